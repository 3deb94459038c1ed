"""Bodies and answers of the HTTP interface."""
