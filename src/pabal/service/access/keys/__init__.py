"""Keys of the API, and what a caller may use."""
