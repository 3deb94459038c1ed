"""Periodic housekeeping."""
