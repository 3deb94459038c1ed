"""Webhooks: events become posts, which are delivered at least once."""
