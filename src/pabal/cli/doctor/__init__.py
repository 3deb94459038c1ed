"""The command that checks a set-up."""
