"""Sender profiles and templates, including those that a relay keeps."""
