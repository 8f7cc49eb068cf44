"""Red boxes that end where the reader's own code does.  `%tb` shows the last one whole, with the engine's frames."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path
from types import TracebackType

ENGINE = str(Path(__file__).resolve().parents[1])
LIBRARIES = (ENGINE, *{sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")})


def without_engine(tb: TracebackType | None) -> TracebackType | None:
    """The traceback without the engine's frames, nor what they called last; the given one stays as it is."""
    frames = []
    while tb is not None:
        frames.append(tb)
        tb = tb.tb_next
    files = [frame.tb_frame.f_code.co_filename for frame in frames]
    own = max((i + 1 for i, file in enumerate(files) if not file.startswith(LIBRARIES)), default=0)
    if own == 0 or not any(file.startswith(ENGINE) for file in files[own:]):
        return frames[0] if frames else None
    made = None
    for frame in reversed([f for f, file in zip(frames[:own], files, strict=False) if not file.startswith(ENGINE)]):
        made = TracebackType(made, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return made


def shorten() -> None:
    """Show tracebacks so from now on, where IPython runs; a handler that somebody else has set stays."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    if shell is None or shell.custom_exceptions:
        return

    def show(self, kind, error, tb, tb_offset=None) -> None:
        self.showtraceback((kind, error, without_engine(tb)), tb_offset=tb_offset)
        sys.last_traceback = tb  # for %tb

    shell.set_custom_exc((Exception,), show)
