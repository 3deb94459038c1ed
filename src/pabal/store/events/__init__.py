"""The tables of events, and of the webhooks and mails that tell of them."""
