"""Look-ups of messages."""
