"""Accounts, their numbers and limits, and the audit log."""
