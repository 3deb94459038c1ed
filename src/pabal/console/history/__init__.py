"""Message history, and the simulated phone."""
