"""Runs every test of this folder on each engine."""

from tests.fixtures.engines import engine
from tests.fixtures.mailers import mailer

__all__ = ["engine", "mailer"]
