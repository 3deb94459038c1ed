"""Codes, dates and identifiers."""
