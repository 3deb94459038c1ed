"""Sends, messages and campaigns."""
