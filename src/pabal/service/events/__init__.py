"""Events: numbered, so that callers can read them in order."""
