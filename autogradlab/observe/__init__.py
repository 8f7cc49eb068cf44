"""Watching the engine: what each call does, what backward does, and what memory is held.  (Chapters 13 and 15)"""

from .memory import Held, MemoryMeter, live_tensors, memory, saved  # noqa: F401
from .profile import Profile, profile, record_function  # noqa: F401
from .record import BackwardStep, Call  # noqa: F401
from .timeline import Timeline, timeline  # noqa: F401
from .trace import Trace, trace  # noqa: F401
