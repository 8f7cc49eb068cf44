"""compile: trace a function, improve its program, run that instead.  (D2 5.2, D3 6.1)

In order of reading: program (what a trace is), tracing (how it is made), guards (when it holds), passes (what is done
to it), region and blocks (how fused kernels run), compiled (all together).
"""

from .blocks import get_num_threads, set_num_threads  # noqa: F401
from .compiled import CompiledFunction  # noqa: F401
from .front import OptimizedModule, compile, disable, explain, is_compiling, reset  # noqa: F401
from .program import Program, Step  # noqa: F401
from .tracing import Break, Unsupported  # noqa: F401
