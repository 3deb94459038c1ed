"""Group commit: what both engines share."""
