"""The commands that manage what is in a store: accounts, keys, users, numbers and the like; and copies of it."""
