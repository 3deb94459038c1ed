"""Receivers from a file."""
