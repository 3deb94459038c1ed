"""Pages of accounts, their keys and limits."""
