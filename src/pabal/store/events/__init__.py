"""The tables of events, webhooks, their deliveries, and mails."""
