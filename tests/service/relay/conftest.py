"""Every test in this folder runs on each engine."""

from tests.fixtures.engines import engine
from tests.fixtures.relay import stage

__all__ = ["engine", "stage"]
