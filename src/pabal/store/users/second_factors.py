"""Second factors of users: the secret of an authenticator app, and recovery codes."""

from collections.abc import Iterable
from typing import NamedTuple

from pabal.domain.base.dates import Instant
from pabal.store.engine.base import Row, Tx

_COLUMNS = "user_id, secret, enabled_at, last_step"


class SecondFactor(NamedTuple):
    """The secret that a user's app has, as it is stored."""

    user_id: int
    secret: bytes
    enabled_at: Instant | None
    """None: the user has not shown yet that the app has it."""
    last_step: int
    """The period of the last code that was used."""


def propose(tx: Tx, user_id: int, secret: bytes) -> bool:
    """Store a secret that is not in use yet; return False if the user has one in use."""
    rows = tx.fetch_all(
        "insert into second_factors (user_id, secret, last_step) values (?, ?, 0)"
        " on conflict (user_id) do update set secret = excluded.secret, last_step = 0"
        " where second_factors.enabled_at is null returning user_id",
        (user_id, secret),
    )
    return bool(rows)


def get(tx: Tx, user_id: int) -> SecondFactor | None:
    """Return the second factor of a user, in use or not."""
    row = tx.fetch_one(f"select {_COLUMNS} from second_factors where user_id = ?", (user_id,))
    return _from_row(row) if row else None


def list_enabled(tx: Tx, user_ids: Iterable[int]) -> set[int]:
    """Return those users whose sign-in has two factors."""
    rows = tx.execute_many(
        "select user_id from second_factors where user_id in ({list}) and enabled_at is not null",
        [(one,) for one in user_ids],
    )
    return {row[0] for row in rows}


def list_some(tx: Tx, after: int, limit: int) -> list[SecondFactor]:
    """Return some second factors in the order of their users, after one."""
    rows = tx.fetch_all(
        f"select {_COLUMNS} from second_factors where user_id > ? order by user_id limit ?", (after, limit)
    )
    return [_from_row(row) for row in rows]


def enable(tx: Tx, user_id: int, step: int, now: Instant) -> None:
    """Have the user's sign-in need a code from now on; that of this period has been used."""
    tx.execute("update second_factors set enabled_at = ?, last_step = ? where user_id = ?", (now, step, user_id))


def use_step(tx: Tx, user_id: int, step: int) -> bool:
    """Use the code of a period; return False if it, or a later one, was used before."""
    rows = tx.fetch_all(
        "update second_factors set last_step = ? where user_id = ? and last_step < ? and enabled_at is not null"
        " returning user_id",
        (step, user_id, step),
    )
    return bool(rows)


def replace_secret(tx: Tx, factor: SecondFactor, secret: bytes) -> bool:
    """Store the same secret in another form; return False if it has changed meanwhile."""
    return bool(
        tx.execute(
            "update second_factors set secret = ? where user_id = ? and secret = ?",
            (secret, factor.user_id, factor.secret),
        )
    )


def set_recovery_codes(tx: Tx, user_id: int, hashes: Iterable[bytes]) -> None:
    """Store recovery codes in place of those before."""
    tx.execute("delete from recovery_codes where user_id = ?", (user_id,))
    for hash in hashes:
        tx.execute("insert into recovery_codes (user_id, hash) values (?, ?)", (user_id, hash))


def use_recovery_code(tx: Tx, user_id: int, hash: bytes) -> bool:
    """Use a recovery code up; return whether there was such a one."""
    rows = tx.fetch_all(
        "delete from recovery_codes where user_id = ? and hash = ? returning user_id", (user_id, hash)
    )
    return bool(rows)


def count_recovery_codes(tx: Tx, user_id: int) -> int:
    """Return how many recovery codes a user has left."""
    row = tx.fetch_one("select count(*) from recovery_codes where user_id = ?", (user_id,))
    return int(row[0]) if row else 0


def delete(tx: Tx, user_id: int) -> bool:
    """Delete the second factor of a user and its recovery codes; return whether it was in use."""
    tx.execute("delete from recovery_codes where user_id = ?", (user_id,))
    rows = tx.fetch_all("delete from second_factors where user_id = ? returning enabled_at", (user_id,))
    return bool(rows) and rows[0][0] is not None


def _from_row(row: Row) -> SecondFactor:
    user_id, secret, enabled_at, last_step = row
    return SecondFactor(user_id, bytes(secret), enabled_at, last_step)
