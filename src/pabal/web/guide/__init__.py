"""The documents for users as a site with a search, at /docs/guide: rendered when asked for, served offline."""
