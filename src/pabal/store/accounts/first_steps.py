"""Which steps of setting up an account are done."""

from typing import NamedTuple

from pabal.store.engine.base import Tx


class FirstSteps(NamedTuple):
    """What a new account has already."""

    has_number: bool
    """An approved sender number."""
    has_profile: bool
    """A sender profile whose token was confirmed."""
    has_template: bool
    """An approved template."""
    has_colleague: bool
    """A second user."""


def read(tx: Tx, account_id: int) -> FirstSteps:
    """Return which steps an account has done."""
    statements = (
        "select 1 from numbers where account_id = ? and state = 'approved'",
        "select 1 from profiles where account_id = ? and status = 'approval' and deleted_at is null",
        "select 1 from templates where account_id = ? and in_use is not null",
    )
    number, profile, template = (tx.fetch_one(f"{sql} limit 1", (account_id,)) is not None for sql in statements)
    users = tx.fetch_all("select 1 from users where account_id = ? and disabled_at is null limit 2", (account_id,))
    return FirstSteps(number, profile, template, has_colleague=len(users) == 2)
