"""Pages of what waits for an operator: numbers, reviews, paused webhooks."""
