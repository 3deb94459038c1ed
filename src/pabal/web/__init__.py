"""The HTTP API, its documentation, health checks and metrics."""
