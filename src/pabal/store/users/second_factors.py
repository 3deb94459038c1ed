"""Second factors of users: the secret of an authenticator app, and recovery codes."""

from collections.abc import Iterable
from typing import NamedTuple

from pabal.domain.base.dates import Instant
from pabal.store.engine.base import Tx
from pabal.store.rows import select


class SecondFactor(NamedTuple):
    """The secret that a user's app has, as it is stored."""

    user_id: int
    secret: bytes
    enabled_at: Instant | None
    """None: the user has not shown yet that the app has it."""
    last_step: int
    """The period of the last code that was used."""


_FACTORS = select(SecondFactor, "second_factors", secret=bytes)


def propose(tx: Tx, user_id: int, secret: bytes) -> bool:
    """Store a secret that is not in use yet; return False if the user has one in use."""
    return tx.changes(
        "insert into second_factors (user_id, secret, last_step) values (?, ?, 0)"
        " on conflict (user_id) do update set secret = excluded.secret, last_step = 0"
        " where second_factors.enabled_at is null",
        (user_id, secret),
    )


def get(tx: Tx, user_id: int) -> SecondFactor | None:
    """Return the second factor of a user, in use or not."""
    return _FACTORS.fetch_one(tx, "where user_id = ?", (user_id,))


def list_enabled(tx: Tx, user_ids: Iterable[int]) -> set[int]:
    """Return those users whose sign-in has two factors."""
    rows = tx.execute_list(
        "select user_id from second_factors where user_id in ({list}) and enabled_at is not null", user_ids
    )
    return {row[0] for row in rows}


def list_some(tx: Tx, after: int, limit: int) -> list[SecondFactor]:
    """Return some second factors in the order of their users, after one."""
    return _FACTORS.fetch_all(tx, "where user_id > ? order by user_id limit ?", (after, limit))


def enable(tx: Tx, user_id: int, step: int, now: Instant) -> None:
    """Have the user's sign-in need a code from now on; that of this period has been used."""
    tx.execute("update second_factors set enabled_at = ?, last_step = ? where user_id = ?", (now, step, user_id))


def use_step(tx: Tx, user_id: int, step: int) -> bool:
    """Use the code of a period; return False if it, or a later one, was used before."""
    return tx.changes(
        "update second_factors set last_step = ? where user_id = ? and last_step < ? and enabled_at is not null",
        (step, user_id, step),
    )


def replace_secret(tx: Tx, factor: SecondFactor, secret: bytes) -> bool:
    """Store the same secret in another form; return False if it has changed meanwhile."""
    return tx.changes(
        "update second_factors set secret = ? where user_id = ? and secret = ?",
        (secret, factor.user_id, factor.secret),
    )


def set_recovery_codes(tx: Tx, user_id: int, hashes: Iterable[bytes]) -> None:
    """Store recovery codes in place of those before."""
    tx.execute("delete from recovery_codes where user_id = ?", (user_id,))
    for hash in hashes:
        tx.execute("insert into recovery_codes (user_id, hash) values (?, ?)", (user_id, hash))


def use_recovery_code(tx: Tx, user_id: int, hash: bytes) -> bool:
    """Use a recovery code up; return whether there was such a one."""
    return tx.changes("delete from recovery_codes where user_id = ? and hash = ?", (user_id, hash))


def count_recovery_codes(tx: Tx, user_id: int) -> int:
    """Return how many recovery codes a user has left."""
    return tx.fetch_number("select count(*) from recovery_codes where user_id = ?", (user_id,))


def delete(tx: Tx, user_id: int) -> bool:
    """Delete the second factor of a user and its recovery codes; return whether it was in use."""
    tx.execute("delete from recovery_codes where user_id = ?", (user_id,))
    return (
        tx.fetch_value("delete from second_factors where user_id = ? returning enabled_at", (user_id,)) is not None
    )
