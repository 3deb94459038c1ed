"""The tables of recipients: contacts, opt-outs, personal data."""
