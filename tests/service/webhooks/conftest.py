"""Fixtures of the tests of webhooks."""

from tests.fixtures.relay import stage

__all__ = ["stage"]
