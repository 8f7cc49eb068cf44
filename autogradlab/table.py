"""The operator table: every block of `ops/` becomes an Operator here, and gets its public faces.

From one block come the function (`torch.mul`), the method, the Python symbols, the in-place twin and `out=`.  They are
closures around the operator, so that a debugger and `show_source` can follow them.
"""

import functools

from . import late
from .convert import operand
from .dispatch import call, call_into, call_pair, call_view_by
from .operators import Operator
from .tensor import Tensor

# What the files loaded so far bind.  To ask for a name, of whatever file: late.functions[name] and so on.
functions = late.functions.bound  # name -> public function; autogradlab/__init__.py exports them
nn_functions = late.nn_functions.bound  # name -> function; nn/functional.py exports them
methods = late.methods.bound  # name -> method of Tensor, which takes the place of its stand-in there
operators = late.operators.bound  # name -> operator


def operator(node=None, **flags):
    """Make a class that describes an operator into an Operator, with its faces.  The flags are Operator's."""

    def register(block):
        op = Operator(block, node, **flags)
        # The same file may come again: Python forgets one whose loading was interrupted, and starts anew when asked.
        if op.name in operators and operators[op.name].block.__module__ != block.__module__:
            raise TypeError(f"two operators are called {op.name}")
        operators[op.name] = op
        _function(op)
        _method(op)
        for symbol in op.symbols:
            methods[symbol] = _SYMBOLS[symbol](op)
        return op

    return register


def explained(fn, called: str | None = None):
    """A function made of operators, which says which of its arguments was no tensor.

    What is asked of a number or a list as of a tensor fails deep inside, with an AttributeError about that very object.
    """

    @functools.wraps(fn)
    def face(*args, **kwargs):
        try:
            return fn(*args, **kwargs)
        except AttributeError as error:
            names = fn.__code__.co_varnames if hasattr(fn, "__code__") else ()
            for name, value in [*zip(names, args, strict=False), *kwargs.items()]:
                held = value if isinstance(value, (list, tuple)) else ()
                if not isinstance(error.obj, Tensor) and (value is error.obj or any(v is error.obj for v in held)):
                    kind = type(error.obj).__name__
                    raise TypeError(
                        f"{called or fn.__name__}(): argument '{name}' must be Tensor, not {kind}."
                    ) from None
            raise

    return face


def public(fn, name: str | None = None, also_method: bool = False, around=lambda face: face):
    """Export a function that is made of operators rather than being one; a class or an object as it is.

    around: what more the function does that the method does not, as takes_out of ops/out.py.
    """
    made_of_operators = callable(fn) and not isinstance(fn, type)
    functions[name or fn.__name__] = around(explained(fn, name)) if made_of_operators else fn
    if also_method:
        methods[name or fn.__name__] = fn
    return fn


def method(fn, name: str | None = None):
    """Install a method that is made of operators rather than being one."""
    methods[name or fn.__name__] = fn
    return fn


def alias(name: str, of: str) -> None:
    """A second public name, for the function, the method and the in-place method as far as they exist."""
    for table in (functions, methods):
        if of in table:
            table[name] = table[of]
    if f"{of}_" in methods:
        methods[f"{name}_"] = methods[f"{of}_"]


def _dress(face, op, name: str):
    face.__name__ = face.__qualname__ = name
    face.__doc__ = op.__doc__
    face.__wrapped__ = op.arguments  # help() shows its signature
    return face


def _function(op) -> None:
    tables = [t for word, t in (("function", functions), ("nn", nn_functions)) if word in op.public]
    if tables:
        function = _dress(_face(op), op, op.name)
        for table in tables:
            table[op.name] = function


def _face(op):
    """What is called with tensors and options as PyTorch takes them."""

    def usual(*args, **kwargs):
        if "out" in kwargs:
            return op.function(*args, **kwargs)
        inputs, options = op.bind(args, kwargs)
        return call(op, inputs, options)

    def general(*args, **kwargs):
        return op.function(*args, **kwargs)

    return usual if op.geometry is None and not op.asks else general


def _method(op) -> None:
    if "method" in op.public:
        plain = op.pointwise and len(op.inputs) == 1 and not hasattr(op.block, "arguments")

        def unary(self):
            return call(op, (self,))

        def view(self, *args, **kwargs):
            if kwargs:
                return op.function(self, *args, **kwargs)
            return call_view_by(op, self, args, op.place)

        shows = op.geometry is not None and not op.multi_output
        methods[op.name] = _dress(unary if plain else view if shows else _face(op), op, op.name)
    if op.in_place:

        def write(self, *args, **kwargs):
            return op.write(self, *args, **kwargs)

        methods[f"{op.name}_"] = _dress(write, op, f"{op.name}_")
        if "function" in op.public:
            functions[f"{op.name}_"] = methods[f"{op.name}_"]


# Python's symbols -----------------------------------------------------------------------------------------------------


def _forward(op):
    def symbol(self, other):
        if not isinstance(other, Tensor):
            other = operand(other, self, op.floats)
            if other is None:
                return NotImplemented
        return call_pair(op, self, other)

    return symbol


def _reflected(op):
    def symbol(self, other):
        if not isinstance(other, Tensor):  # Python hands over what is none; a direct call may not
            other = operand(other, self, op.floats)
        return NotImplemented if other is None else call_pair(op, other, self)

    return symbol


def _assigned(op):
    def symbol(self, other):
        if not isinstance(other, Tensor):
            other = operand(other, self, op.floats)
            if other is None:
                return NotImplemented
        return call_into(op, self, (self, other))

    return symbol


def _unary(op):
    return lambda self: call(op, (self,))


_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor", "lshift", "rshift")
_SYMBOLS = {
    **{f"__{s}__": _forward for s in (*_BINARY, "lt", "le", "gt", "ge", "eq", "ne")},
    **{f"__r{s}__": _reflected for s in _BINARY},
    **{f"__i{s}__": _assigned for s in _BINARY},
    **dict.fromkeys(("__neg__", "__abs__", "__invert__"), _unary),
}
