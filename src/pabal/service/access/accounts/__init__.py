"""Accounts: their keys, numbers and limits, and the audit log."""
