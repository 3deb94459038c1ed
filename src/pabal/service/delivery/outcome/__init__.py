"""What a carrier's verdict leads to."""
