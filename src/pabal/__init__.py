"""A messaging service that a company runs itself."""

__version__ = "0.2.0"
