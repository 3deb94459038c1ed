"""Keys, accounts, users and their limits."""
