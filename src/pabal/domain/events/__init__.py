"""Events and notices, for callers and users."""
