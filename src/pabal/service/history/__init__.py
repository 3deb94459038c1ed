"""Looks messages up."""
