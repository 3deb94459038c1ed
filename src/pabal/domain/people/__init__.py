"""Recipients: phone numbers, contacts, opt-outs, replies."""
