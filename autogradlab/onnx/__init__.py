"""torch.onnx: a model traced and written as an ONNX file, for programs that only run it.  (D2 1.2, D5 4.4)

https://pytorch.org/docs/stable/onnx.html, https://onnx.ai
"""

from .export import OnnxExporterError, ONNXProgram, export  # noqa: F401
from .operators import exportable  # noqa: F401
