"""What callers and users are told of."""
