"""All settings, each declared once."""
