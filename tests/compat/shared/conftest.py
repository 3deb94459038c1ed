"""Runs every test of this folder on each engine, with what the endpoints of several relays share."""

from tests.fixtures.engines import engine

__all__ = ["engine"]
