"""Tells users of the console by mail what has happened."""
