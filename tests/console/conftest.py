"""Every test of this floor runs on each engine."""

from tests.engines import engine

__all__ = ["engine"]
