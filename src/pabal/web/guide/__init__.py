"""The documents for users as a site with a search, at /docs/guide: rendered at build time, served offline."""
