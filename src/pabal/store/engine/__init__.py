"""The database engines behind the store."""
