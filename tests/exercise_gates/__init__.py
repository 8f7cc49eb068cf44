"""Typical wrong solutions of the exercises, and second right ways; kept away from solutions/, which is handed out."""
