"""The endpoints of other relays, for programs that were written for them."""
