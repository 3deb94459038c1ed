"""Campaigns: made from files and groups, approved, and their progress, like that of requests."""
