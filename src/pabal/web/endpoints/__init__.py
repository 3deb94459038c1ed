"""The endpoints of the API: their table, and what each does."""
