"""Pure values and rules: no clock, no randomness, no storage."""
