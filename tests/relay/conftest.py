"""Every test of this floor runs on each engine."""

from tests.engines import engine
from tests.relay.scenery import stage

__all__ = ["engine", "stage"]
