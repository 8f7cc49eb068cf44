"""Reading panels in tests: the widgets in them, and what they say."""

import ipywidgets as widgets


def every(panel, kind) -> list:
    """All widgets of a kind inside a panel, in order."""
    found = []
    for child in panel.children:
        if isinstance(child, kind):
            found.append(child)
        if hasattr(child, "children"):
            found += every(child, kind)
    return found


def said(panel) -> str:
    return "\n".join(w.value for w in every(panel, widgets.HTML))
