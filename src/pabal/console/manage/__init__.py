"""Templates, sender profiles and sender numbers."""
