"""Contacts and opt-outs."""
