"""Property tests have no deadline, because the machine may be busy."""

from hypothesis import settings

settings.register_profile("pabal", deadline=None)
settings.load_profile("pabal")
