"""What carriers over a relay's HTTP API share."""
