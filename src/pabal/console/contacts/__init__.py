"""The pages of opt-outs and inbound messages."""
