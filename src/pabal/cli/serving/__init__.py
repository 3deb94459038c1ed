"""The commands that run the service."""
