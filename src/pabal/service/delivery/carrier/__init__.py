"""The state of carriers: connected, how fast, how many in flight."""
