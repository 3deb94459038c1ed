"""What the API answers: records of messages, templates, senders and results."""
