"""The commands that check an installation, and that try a relay with one message of each kind."""
