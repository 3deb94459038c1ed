"""Reads files and tables of rows: CSV and Excel, their limits, and what their columns hold."""
