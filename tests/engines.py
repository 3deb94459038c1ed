"""The engines that a store may have."""

ENGINES = ("sqlite", "postgresql")
