"""Message history."""
