"""Progress of what was sent."""
