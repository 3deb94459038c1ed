"""Every test of this floor runs on each engine."""

from tests.fixtures.engines import engine
from tests.fixtures.relay import stage

__all__ = ["engine", "stage"]
