"""What the notebooks import beside the engine: predict cells, quizzes, checks of small tasks, the engine's source.

Names are looked up when first used: the exercise checks and `doctor` work where ipywidgets is missing.
"""

from importlib import import_module

from .tracebacks import shorten

_FOUND_IN = {
    "predict": "",
    "quiz": "quizzes",
    "ask": "quizzes",
    "show_source": "sources",
    "check_answer": "answers",
    "show_progress": "progress_table",
}
__all__ = list(_FOUND_IN)


def __getattr__(name: str):
    if name not in _FOUND_IN:
        raise AttributeError(f"module 'autogradlab.learn' has no attribute {name!r}")
    module = import_module(f"autogradlab.learn.{_FOUND_IN[name] or name}")
    return getattr(module, name) if _FOUND_IN[name] else module


shorten()
