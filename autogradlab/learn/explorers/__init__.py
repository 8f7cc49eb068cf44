"""Explorers: things to move, with a text twin that says the same.

Each is a model that knows no widgets, and a view of it.
"""
