"""The floor: the same work written by hand in NumPy, in place where a person would, forward and gradients.

An engine on NumPy cannot beat it but by better algorithms; how near it comes is what the benchmarks say.
"""

import numpy as np


def elementwise(a, b, c):
    """sum(tanh(a * b + c)) and its three gradients."""
    t = a * b
    t += c
    np.tanh(t, out=t)
    loss = t.sum()
    np.multiply(t, t, out=t)
    np.subtract(np.float32(1), t, out=t)
    return [loss, t * b, t * a, t]


def perceptron(x, y, w1, b1, w2, b2):
    """The cross entropy of linear, relu, linear; gradients of the weights, which are (out, in), and biases."""
    rows = np.arange(len(y))
    h = x @ w1.T
    h += b1
    np.maximum(h, 0, out=h)
    z = h @ w2.T
    z += b2
    z -= z.max(1, keepdims=True)
    p = np.exp(z)
    total = p.sum(1, keepdims=True)
    loss = (np.log(total[:, 0]) - z[rows, y]).mean()
    p /= total
    p[rows, y] -= 1
    p *= np.float32(1 / len(y))
    dh = p @ w2
    dh *= h > 0
    return [loss, dh.T @ x, dh.sum(0), p.T @ h, p.sum(0)]


def momentum_step(weights, velocities, gradients, lr, momentum):
    """SGD with momentum, in place."""
    for w, v, g in zip(weights, velocities, gradients, strict=True):
        v *= np.float32(momentum)
        v += g
        w -= np.float32(lr) * v


def normalised(x, scale, shift):
    """Layer normalisation of rows: (result, normalised rows, 1 / deviation)."""
    xn = x - x.mean(-1, keepdims=True)
    r = 1 / np.sqrt(np.einsum("ij,ij->i", xn, xn)[:, None] / np.float32(x.shape[1]) + np.float32(1e-5))
    xn *= r
    out = xn * scale
    out += shift
    return out, xn, r


def normalised_backward(g, xn, r, scale):
    """Gradients of layer normalisation: of the rows, the scale and the shift."""
    d_scale, d_shift = np.einsum("ij,ij->j", g, xn), g.sum(0)
    d = g * scale
    mean = d.mean(-1, keepdims=True)
    along = np.einsum("ij,ij->i", d, xn)[:, None] / np.float32(xn.shape[1])
    d -= mean
    d -= xn * along
    d *= r
    return d, d_scale, d_shift


class Block:
    """A transformer block with the normalisation first: attention, then two layers with relu.

    sizes: (batch, length, width, heads); parameters: scale and shift, four pairs of weight and bias, scale and shift,
    two pairs of weight and bias.  The loss is the sum of the result times `weights`.
    """

    def __init__(self, sizes, mask, weights):
        self.sizes, self.mask, self.weights = sizes, mask, weights

    def split(self, t):
        """Rows into heads."""
        b, n, d, h = self.sizes
        return np.ascontiguousarray(t.reshape(b, n, h, d // h).transpose(0, 2, 1, 3)).reshape(b * h, n, d // h)

    def join(self, t):
        """Heads into rows."""
        b, n, d, h = self.sizes
        return np.ascontiguousarray(t.reshape(b, h, n, d // h).transpose(0, 2, 1, 3)).reshape(b * n, d)

    def attend(self, q, k, v, scale):
        """Softmax of the masked scores, and the values it picks."""
        a = q @ k.transpose(0, 2, 1)
        a *= scale
        a += self.mask
        a -= a.max(-1, keepdims=True)
        np.exp(a, out=a)
        a /= a.sum(-1, keepdims=True)
        return a, a @ v

    def __call__(self, x, g1, c1, wq, bq, wk, bk, wv, bv, wo, bo, g2, c2, w1, b1, w2, b2):
        scale = np.float32((self.sizes[2] // self.sizes[3]) ** -0.5)
        h, xn1, r1 = normalised(x, g1, c1)
        q, k, v = (self.split(_linear(h, w, b)) for w, b in ((wq, bq), (wk, bk), (wv, bv)))
        a, o = self.attend(q, k, v, scale)
        o = self.join(o)
        middle = _linear(o, wo, bo)
        middle += x
        h2, xn2, r2 = normalised(middle, g2, c2)
        f = _linear(h2, w1, b1)
        np.maximum(f, 0, out=f)
        out = _linear(f, w2, b2)
        out += middle
        loss = np.vdot(out, self.weights)

        d = self.weights
        df = d @ w2
        df *= f > 0
        upper = [df.T @ h2, df.sum(0), d.T @ f, d.sum(0)]
        dx, dg2, dc2 = normalised_backward(df @ w1, xn2, r2, g2)
        dx += d
        do = self.split(dx @ wo)
        dv = self.join(a.transpose(0, 2, 1) @ do)
        da = do @ v.transpose(0, 2, 1)
        da *= a
        da -= a * da.sum(-1, keepdims=True)
        da *= scale
        dq, dk = self.join(da @ k), self.join(da.transpose(0, 2, 1) @ q)
        dh = dq @ wq
        dh += dk @ wk
        dh += dv @ wv
        _, dg1, dc1 = normalised_backward(dh, xn1, r1, g1)
        lower = [g for d in (dq, dk, dv) for g in (d.T @ h, d.sum(0))]
        return [loss, dg1, dc1, *lower, dx.T @ o, dx.sum(0), dg2, dc2, *upper]


def _linear(x, w, b):
    out = x @ w.T
    out += b
    return out


def convolution(x, w):
    """sum(conv2d(x, w)) and both gradients, by unfolding patches into columns."""
    n, c, height, width = x.shape
    o, _, kh, kw = w.shape
    rows, columns = height - kh + 1, width - kw + 1
    s = x.strides
    patches = np.lib.stride_tricks.as_strided(x, (n, c, kh, kw, rows, columns), s[:2] + s[2:] + s[2:])
    patches = patches.reshape(n, c * kh * kw, rows * columns)
    y = w.reshape(o, -1) @ patches
    g = np.ones_like(y)
    dw = np.matmul(g, patches.transpose(0, 2, 1)).sum(0).reshape(w.shape)
    dp = (w.reshape(o, -1).T @ g).reshape(n, c, kh, kw, rows, columns)
    dx = np.zeros_like(x)
    for i in range(kh):
        for j in range(kw):
            dx[:, :, i : i + rows, j : j + columns] += dp[:, :, i, j]
    return [y.sum(), dx, dw]
