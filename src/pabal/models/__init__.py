"""Bodies and answers of the HTTP API."""
