"""The operators: one block each, in one place.

A block says what it computes, how it differentiates and how to test it.  Which file has what stands below: `exp` is a
function and a method, `cat()` a function alone, `.to` a method alone, `nn.elu` a function of nn.functional.  A file is
loaded when one of its names is first asked for (late.py); an operator in a file whose line does not name it is not
found, and a test says so.

Files without a public name: decompose (inverse, determinant, cholesky, qr, svd, solve, for torch.linalg), loss (what
the losses of nn.functional are made of), contract (the sums of products gradients are made of), out (out= for what is
no block).  What blocks share: kinds (flags), samples (what each is tested with), float8 (kept as bytes on
accelerators).
"""

from autogradlab import late

CONTENTS = """
    pointwise:      add add_ sub sub_ rsub mul mul_ floor_divide floor_divide_ div divide true_divide remainder
                    remainder_ fmod fmod_ pow neg neg_ abs abs_ reciprocal reciprocal_ square square_ absolute negative
                    multiply subtract .true_divide_ .trunc_divide_ .floor_quotient_ .div_ .divide_ .pow_scalar_
                    .pow_tensor_ .pow_ .absolute_ .negative_ .multiply_ .subtract_ .__add__ .__radd__ .__iadd__ .__sub__
                    .__rsub__ .__isub__ .__mul__ .__rmul__ .__imul__ .__truediv__ .__itruediv__ .__floordiv__
                    .__rfloordiv__ .__ifloordiv__ .__rtruediv__ .__mod__ .__rmod__ .__imod__ .__rpow__ .__pow__
                    .__ipow__ .__neg__ .__abs__ .__pos__
    elementary:     exp exp_ exp2 exp2_ expm1 expm1_ log log_ log2 log2_ log10 log10_ log1p log1p_ sqrt sqrt_ rsqrt
                    rsqrt_ sin sin_ cos cos_ tan tan_ asin asin_ acos acos_ atan atan_ sinh sinh_ cosh cosh_ tanh tanh_
                    erf erf_ sigmoid sigmoid_ relu relu_ arcsin arccos arctan .arcsin_ .arccos_ .arctan_
    special:        asinh asinh_ acosh acosh_ atanh atanh_ arcsinh arccosh arctanh deg2rad deg2rad_ rad2deg rad2deg_
                    sinc sinc_ erfc erfc_ erfinv erfinv_ logit logit_ frac frac_ sgn sgn_ nan_to_num nan_to_num_
                    positive fix .arcsinh_ .arccosh_ .arctanh_ .fix_
    two_numbers:    atan2 atan2_ arctan2 hypot hypot_ logaddexp logaddexp2 xlogy xlogy_ copysign copysign_ fmax fmin
                    heaviside heaviside_ nextafter nextafter_ gcd gcd_ lcm lcm_ lerp lerp_ addcmul addcmul_ addcdiv
                    addcdiv_ ldexp float_power .arctan2_ .ldexp_ .float_power_
    rounding:       sign sign_ floor floor_ ceil ceil_ trunc trunc_ round round_
    compare:        eq eq_ ne ne_ lt lt_ le le_ gt gt_ ge ge_ not_equal less less_equal greater greater_equal
                    logical_and logical_and_ logical_or logical_or_ logical_xor logical_xor_ logical_not logical_not_
                    bitwise_and bitwise_and_ bitwise_or bitwise_or_ bitwise_xor bitwise_xor_ bitwise_not bitwise_not_
                    bitwise_left_shift bitwise_left_shift_ bitwise_right_shift bitwise_right_shift_ isnan isinf isfinite
                    isposinf isneginf isreal signbit isclose allclose equal result_type() is_nonzero promote_types()
                    can_cast() is_tensor() is_floating_point() numel() .not_equal_ .less_ .less_equal_ .greater_
                    .greater_equal_ .__eq__ .__ne__ .__lt__ .__le__ .__gt__ .__ge__ .__and__ .__rand__ .__iand__ .__or__
                    .__ror__ .__ior__ .__xor__ .__rxor__ .__ixor__ .__invert__ .__lshift__ .__rlshift__ .__ilshift__
                    .__rshift__ .__rrshift__ .__irshift__
    choose:         maximum maximum_ minimum minimum_ clamp clip clamp_min clamp_max where .clamp_ .clamp_min_
                    .clamp_max_ .clip_

    reduce:         sum mean var std prod any all count_nonzero logsumexp .sum_to_size
    extremes:       amax amin max min argmax argmin
    running:        cumsum cumsum_ cumprod cumprod_ cummax cummin logcumsumexp
    statistics:     nansum var_mean() std_mean() aminmax cov corrcoef bincount nanmean quantile nanquantile histc
    order:          sort argsort topk kthvalue mode median nanmedian msort
    search:         unique unique_consecutive isin() unravel_index() searchsorted() bucketize()

    create:         tensor() zeros() ones() empty() full() empty_strided() zeros_like() ones_like() empty_like()
                    full_like() arange() linspace() logspace() eye() .new_zeros .new_ones .new_empty .new_full
                    .new_empty_strided .new_tensor
    adopt:          from_numpy() from_dlpack() as_tensor() asarray()
    random:         Generator() default_generator() manual_seed() seed() initial_seed() get_rng_state() set_rng_state()
                    rand() randn() randint() randperm() normal() rand_like() randn_like() randint_like() bernoulli
                    multinomial .uniform_ .normal_ .random_ .exponential_ .geometric_ .bernoulli_
    copy:           clone detach() zero_ fill_ .contiguous .pin_memory .is_pinned .to .float .double .half .bfloat16
                    .long .int .short .char .byte .bool .type_as .cpu .cuda .type .copy_ .detach_
    persist:        .__deepcopy__ .__reduce_ex__
    out:

    shape:          reshape flatten unflatten ravel transpose swapaxes swapdims t permute movedim moveaxis squeeze
                    unsqueeze broadcast_shapes() broadcast_to broadcast_tensors() .view .view_as .reshape_as .T .mT
                    .expand .expand_as .transpose_ .swapaxes_ .swapdims_ .t_ .squeeze_ .unsqueeze_
    slices:         select narrow as_strided split chunk unbind unfold .as_strided_ .__iter__
    diagonals:      diagonal diag_embed diagflat tril tril_ triu triu_ trace diag
    join:           cat() concat() concatenate() stack() flip roll tile meshgrid() .repeat .__reversed__
    pieces:         atleast_1d() atleast_2d() atleast_3d() block_diag() hsplit vsplit dsplit tensor_split
                    split_with_sizes fliplr flipud rot90 repeat_interleave cartesian_prod() combinations tril_indices()
                    triu_indices() hstack() vstack() dstack() column_stack() row_stack()

    index:          index_put .index_put_ .__getitem__ .__setitem__
    gather:         gather scatter_add scatter_add_ scatter index_select index_add index_add_ take_along_dim .scatter_
    scatter:        scatter_reduce scatter_reduce_ index_copy index_copy_ take index_reduce index_fill masked_scatter
                    put .index_reduce_ .index_fill_ .masked_scatter_ .put_
    masks:          masked_fill masked_select argwhere nonzero .masked_fill_ .__contains__

    linalg:         mm bmm mv dot matmul addmm addmm_ baddbmm baddbmm_ outer ger inner .__matmul__
    products:       addmv addmv_ addr addr_ addbmm addbmm_ tensordot() einsum() diff vander() trapezoid()
                    cumulative_trapezoid() trapz() chain_matmul() kron vdot cross
    decompose:
    distances:      cdist dist
    softmax:        softmax log_softmax
    contract:

    activation:     hardshrink prelu nn.gelu nn.silu nn.mish nn.softplus nn.logsigmoid nn.elu nn.celu nn.leaky_relu
                    nn.hardtanh nn.hardsigmoid nn.hardswish nn.softshrink nn.hardshrink nn.threshold nn.prelu nn.glu
    attention:      nn.scaled_dot_product_attention nn.multi_head_attention_forward
    convolution:    conv1d() conv_transpose1d() conv2d() conv_transpose2d() conv3d() conv_transpose3d() nn.conv1d
                    nn.conv_transpose1d nn.conv2d nn.conv_transpose2d nn.conv3d nn.conv_transpose3d
    dropout:        dropout() nn.dropout nn.dropout1d nn.dropout2d nn.dropout3d
    embedding:      embedding() nn.embedding nn.one_hot
    linear:         bilinear() nn.linear nn.bilinear
    loss:
    normalization:  layer_norm() rms_norm() nn.layer_norm nn.rms_norm nn.group_norm nn.batch_norm nn.instance_norm
    padding:        constant_pad_nd() nn.pad
    patches:        nn.unfold nn.fold
    pooling:        max_pool1d() max_pool2d() avg_pool1d() adaptive_avg_pool1d() nn.max_pool1d nn.max_pool2d
                    nn.avg_pool1d nn.avg_pool2d nn.adaptive_avg_pool1d nn.adaptive_avg_pool2d
"""

late.offer(__name__, CONTENTS)
