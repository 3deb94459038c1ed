"""Brand messages: what they are, and what they may contain."""
