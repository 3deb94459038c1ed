"""Codes, dates, identifiers, and a dictionary of bounded size."""
