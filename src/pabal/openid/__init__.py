"""Sign-in by OpenID Connect: the provider's documents, ID tokens, and the cookie of a sign-in."""
