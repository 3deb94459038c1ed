"""The commands that manage accounts, keys, users, numbers and the like."""
