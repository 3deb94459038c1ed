"""Webhooks: their management, and events that become posts, delivered at least once."""
