"""Sign-in by OpenID Connect: the provider's documents, ID tokens, and what a browser takes along."""
