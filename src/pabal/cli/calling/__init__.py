"""Commands that call a running service, which need nothing of the service installed."""
