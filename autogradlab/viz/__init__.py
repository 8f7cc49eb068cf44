"""Pictures: graphs, and tensors over their storage.  Each has a text form that says the same."""

from .charts import axes, chart
from .graphs import make_dot
from .picture import Picture
from .programs import program
from .steps import trace
from .strips import storage
from .timelines import timeline

__all__ = ["Picture", "axes", "chart", "make_dot", "program", "storage", "timeline", "trace"]
