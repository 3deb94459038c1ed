"""HTTP calls to other servers: relays, callers' webhooks, OpenID providers."""
