"""The send page."""
