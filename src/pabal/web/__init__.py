"""The HTTP interface, its documentation, health checks and metrics."""
