"""The command that tries a relay with one message of each kind."""
