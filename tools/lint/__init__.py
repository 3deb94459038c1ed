"""Checks of style and documents that ruff does not know."""
