"""Runs every test of this folder on each engine, with Solapi's endpoints and their callers in its environment."""

from tests.fixtures.engines import engine
from tests.fixtures.prepared import alimtalk_key, call, pytest_pyfunc_call, sender_key

__all__ = ["alimtalk_key", "call", "engine", "pytest_pyfunc_call", "sender_key"]
