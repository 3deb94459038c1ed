"""Properties are checked without a deadline: a busy machine is no reason to fail."""

from hypothesis import settings

settings.register_profile("pabal", deadline=None)
settings.load_profile("pabal")
