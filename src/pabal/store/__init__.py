"""Stores data: the only package with SQL."""
