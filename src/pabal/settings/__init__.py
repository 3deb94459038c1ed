"""Every setting, declared once."""
