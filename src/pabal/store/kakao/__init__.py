"""The tables of sender profiles and templates."""
