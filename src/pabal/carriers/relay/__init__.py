"""What carriers over a relay's HTTP interface share."""
