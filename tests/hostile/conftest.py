"""Makes what a test asks for in its environment."""

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
    "failing_store",
    "operator",
    "owner",
    "pytest_pyfunc_call",
    "sender",
    "sender_key",
    "viewer",
]
