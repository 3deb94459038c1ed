"""Every test of this floor runs on each engine."""

from tests.fixtures.engines import engine

__all__ = ["engine"]
