"""Hands mails to a mail server."""
