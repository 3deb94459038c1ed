"""Runs every test of this folder on each engine."""

from tests.fixtures.engines import engine

__all__ = ["engine"]
