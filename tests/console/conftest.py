"""Runs every test of this folder on each engine, with what it asks for made in its environment."""

from tests.fixtures.engines import engine
from tests.fixtures.mailers import mailer
from tests.fixtures.prepared import (
    account,
    alimtalk_key,
    browser,
    call,
    failing_store,
    operator,
    owner,
    pytest_pyfunc_call,
    sender,
    sender_key,
    viewer,
)

__all__ = [
    "account",
    "alimtalk_key",
    "browser",
    "call",
    "engine",
    "failing_store",
    "mailer",
    "operator",
    "owner",
    "pytest_pyfunc_call",
    "sender",
    "sender_key",
    "viewer",
]
