"""The tables of accounts, their API keys and when these were used, and how their users send."""

from collections.abc import Iterable, Mapping
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import NamedTuple

from pabal.domain.base.dates import SECOND, Instant
from pabal.domain.sends.account import NO_PREFERENCES, SenderCodes, SendPreferences
from pabal.store.accounts import setup_changes
from pabal.store.engine.base import Tx
from pabal.store.rows import Select, reader, select, upsert

_KEY = (
    "k.id, k.account_id, a.name, k.name, k.scopes, k.allow, k.rate,"
    " k.created_at, k.expires_at, k.revoked_at, a.disabled_at, a.opt_out_number"
)


class ApiKey(NamedTuple):
    """An API key, without its secret."""

    id: int
    account_id: int
    account: str
    name: str
    scopes: frozenset[str]
    allow: tuple[IPv4Network | IPv6Network, ...]
    rate: int
    created_at: Instant
    expires_at: Instant | None
    revoked_at: Instant | None
    account_disabled_at: Instant | None
    opt_out_number: str | None = None
    """The number for opting out of its account's advertisements."""
    used_at: Instant | None = None
    """When it was used last, to the minute; only in lists of keys."""

    @property
    def is_live(self) -> bool:
        return self.revoked_at is None and self.account_disabled_at is None


_key_from_row = reader(
    ApiKey,
    scopes=lambda words: frozenset(words.split()),
    allow=lambda words: tuple(ip_network(word) for word in words.split()),
)
_KEYS = Select(f"select {_KEY}, null from keys k join accounts a on a.id = k.account_id", _key_from_row)
_LISTED_KEYS = Select(
    f"select {_KEY}, u.used_at from keys k join accounts a on a.id = k.account_id"
    " left join key_usage u on u.key_id = k.id",
    _key_from_row,
)


class Account(NamedTuple):
    """The owner of requests, keys, profiles and users."""

    id: int
    name: str
    created_at: Instant
    disabled_at: Instant | None


_ACCOUNTS = select(Account, "accounts")


def ensure_account(tx: Tx, name: str, now: Instant) -> int:
    """Return the id of the account of this name; create it if it is new."""
    tx.execute("insert into accounts (name, created_at) values (?, ?) on conflict (name) do nothing", (name, now))
    return tx.fetch_number("select id from accounts where name = ?", (name,))


def lock(tx: Tx, account_id: int) -> None:
    """Lock the account's row to serialize transactions that count its rows."""
    tx.execute("update accounts set created_at = created_at where id = ?", (account_id,))


def list_accounts(tx: Tx) -> list[Account]:
    """Return every account, oldest first."""
    return _ACCOUNTS.fetch_all(tx, "order by id")


def get(tx: Tx, account_id: int) -> Account | None:
    return _ACCOUNTS.fetch_one(tx, "where id = ?", (account_id,))


def set_opt_out_number(tx: Tx, account_id: int, number: str | None) -> None:
    """Set the number for opting out of an account's advertisements, or remove it with None."""
    tx.execute("update accounts set opt_out_number = ? where id = ?", (number, account_id))
    setup_changes.record(tx, account_id)


def get_opt_out_numbers(tx: Tx, account_ids: Iterable[int]) -> dict[int, str]:
    rows = tx.execute_list(
        "select id, opt_out_number from accounts where id in ({list}) and opt_out_number is not null", account_ids
    )
    return {row[0]: row[1] for row in rows}


def set_sender_codes(tx: Tx, account_id: int, codes: SenderCodes) -> None:
    """Set which reseller sends an account's messages."""
    tx.execute("update accounts set origin_code = ?, reseller_code = ? where id = ?", (*codes, account_id))


def list_sender_codes(tx: Tx) -> dict[int, SenderCodes]:
    """Return the codes of the accounts that have some, by account id."""
    rows = tx.fetch_all(
        "select id, origin_code, reseller_code from accounts"
        " where origin_code is not null or reseller_code is not null"
    )
    return {row[0]: SenderCodes(row[1], row[2]) for row in rows}


def set_disabled(tx: Tx, name: str, at: Instant | None) -> bool:
    """Disable an account, or enable it with None; return whether there is one of this name."""
    changed = tx.fetch_all("update accounts set disabled_at = ? where name = ? returning id", (at, name))
    return setup_changes.record_changed(tx, changed)


def add_key(
    tx: Tx,
    account_id: int,
    name: str,
    hash: bytes,
    scopes: str,
    allow: str,
    rate: int,
    now: Instant,
    expires_at: Instant | None,
) -> int:
    return tx.fetch_number(
        "insert into keys (account_id, name, hash, scopes, allow, rate, created_at, expires_at)"
        " values (?, ?, ?, ?, ?, ?, ?, ?) returning id",
        (account_id, name, hash, scopes, allow, rate, now, expires_at),
    )


def key_by_hash(tx: Tx, hash: bytes) -> ApiKey | None:
    """Return the key with this hash, whatever its state."""
    return _KEYS.fetch_one(tx, "where k.hash = ?", (hash,))


def get_key(tx: Tx, key_id: int) -> ApiKey | None:
    """Return the key with this id, whatever its state."""
    return _KEYS.fetch_one(tx, "where k.id = ?", (key_id,))


def list_keys(tx: Tx) -> list[ApiKey]:
    """Return every key, oldest first."""
    return _LISTED_KEYS.fetch_all(tx, "order by k.id")


def list_keys_by_account(tx: Tx, account_id: int) -> list[ApiKey]:
    """Return every key of an account, oldest first."""
    return _LISTED_KEYS.fetch_all(tx, "where k.account_id = ? order by k.id", (account_id,))


def list_recent_keys(tx: Tx, now: Instant, count: int) -> list[ApiKey]:
    """Return some keys of all accounts that can be used now, those that were used last first."""
    return _LISTED_KEYS.fetch_all(
        tx,
        "where k.revoked_at is null and a.disabled_at is null"
        " and (k.expires_at is null or k.expires_at > ?) order by u.used_at desc nulls last, k.id desc limit ?",
        (now, count),
    )


def count_usable_keys(tx: Tx, account_id: int, now: Instant) -> int:
    """Return how many keys of an account are neither revoked nor expired."""
    return tx.fetch_number(
        "select count(*) from keys where account_id = ? and revoked_at is null"
        " and (expires_at is null or expires_at > ?)",
        (account_id, now),
    )


def newest_key_id(tx: Tx, account_id: int) -> int:
    """Return the id of an account's newest key; 0 if it has none."""
    return tx.fetch_number("select max(id) from keys where account_id = ?", (account_id,))


def set_key_rate(tx: Tx, account_id: int, key_id: int, rate: int) -> bool:
    """Change the rate of a key that is not revoked; return whether the account has such a one."""
    changed = tx.fetch_all(
        "update keys set rate = ? where id = ? and account_id = ? and revoked_at is null returning account_id",
        (rate, key_id, account_id),
    )
    return setup_changes.record_changed(tx, changed)


def revoke_key(tx: Tx, key_id: int, now: Instant) -> bool:
    """Revoke a key; return whether there was a live one of this id."""
    changed = tx.fetch_all(
        "update keys set revoked_at = ? where id = ? and revoked_at is null returning account_id", (now, key_id)
    )
    return setup_changes.record_changed(tx, changed)


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


US_PER_MS = 1000
"""Microseconds in the unit of an Instant."""
MAX_AHEAD = 10 * SECOND
"""A bucket that reaches further ahead was written by a wrong clock, or the clock was set back since."""


class RateGrant(NamedTuple):
    """How many requests were granted, how many more are left, and otherwise when the next one is possible."""

    granted: int
    left: int
    next_at: Instant


def take(tx: Tx, key_id: int, rate: int, wanted: int, now: Instant) -> RateGrant:
    """Grant requests from a key's bucket, which holds one second's worth and refills at the key's rate.

    The stored value is the time by which all granted requests are paid off at that rate. A process whose clock is
    behind gets less while others use the key, and nothing if it is behind by a second; it never gets more.
    """
    now_us, second_us = now * US_PER_MS, SECOND * US_PER_MS
    owed_us = max(0, _until_us(tx, key_id) - now_us)
    is_wrong = owed_us > MAX_AHEAD * US_PER_MS
    if is_wrong:
        owed_us = second_us
    free = max(0, min(rate, (second_us - owed_us) * rate // second_us))
    granted = min(wanted, free)
    if granted or is_wrong:
        owed_us += granted * second_us // rate  # rounded up, the last of a bucket would not be granted
        tx.execute("update key_usage set until_us = ? where key_id = ?", (now_us + owed_us, key_id))
    missing_us = owed_us - second_us + -(-second_us // rate)
    return RateGrant(granted, free - granted, now if free > granted else now + max(1, -(-missing_us // US_PER_MS)))


def mark_used(tx: Tx, used_at: Mapping[int, Instant]) -> None:
    """Record when keys were used last, by their ids."""
    tx.execute_many(
        "insert into key_usage (until_us, key_id, used_at) select 0, v.* from (values {rows}) as v where true"
        " on conflict (key_id) do update set used_at = excluded.used_at",
        sorted(used_at.items()),
    )


def _until_us(tx: Tx, key_id: int) -> int:
    """Return the stored value of a key, and lock its row until the transaction ends."""
    return tx.fetch_number(
        "insert into key_usage (key_id, until_us) values (?, 0)"
        " on conflict (key_id) do update set until_us = key_usage.until_us returning until_us",
        (key_id,),
    )


_PREFERENCES = select(SendPreferences, "send_preferences", upgrades_to_lms=bool)


def get_send_preferences(tx: Tx, account_id: int) -> SendPreferences:
    """Return the choices of an account."""
    return _PREFERENCES.fetch_one(tx, "where account_id = ?", (account_id,)) or NO_PREFERENCES


def save_send_preferences(tx: Tx, account_id: int, chosen: SendPreferences) -> None:
    """Store the choices of an account in place of those before."""
    statement = upsert("send_preferences", "account_id", ", ".join(SendPreferences._fields))
    tx.execute(statement, (account_id, int(chosen.upgrades_to_lms), *chosen[1:]))
