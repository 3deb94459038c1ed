"""Accepts, cancels and expedites sends."""
