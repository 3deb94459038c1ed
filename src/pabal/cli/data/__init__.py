"""The commands that copy a store: backup, restore, move."""
