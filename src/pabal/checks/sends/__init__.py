"""From a body to a checked send, for each kind of message."""
