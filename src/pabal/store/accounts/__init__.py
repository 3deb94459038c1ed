"""The tables of accounts: limits, numbers, keys, audit log."""
