"""The team of an account: users, invitations, API keys."""
