"""Which worker holds which slots."""
