"""Posts of events to callers' own servers: signatures, permitted addresses, the HTTP client, secrets at rest."""
