"""To be imported by the process that workers are forked from: what each would do first is done once, here."""

import nbformat
from nbgrader.api import Gradebook

from . import feedback, grade_worker

Gradebook("sqlite://").close()  # SQLAlchemy reads nbgrader's tables
feedback.page(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1")]), "", {}, {})  # templates are compiled

work = grade_worker.work
