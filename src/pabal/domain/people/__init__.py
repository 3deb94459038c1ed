"""People: recipients with their numbers, contacts, opt-outs and replies, and users of the console."""
