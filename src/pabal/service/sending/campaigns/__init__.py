"""Campaigns: sends with a file or a group of receivers."""
