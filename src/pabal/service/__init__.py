"""The service: accepts sends, delivers them, receives receipts, and does the upkeep."""
