"""Sender profiles, whose changes of state are recorded as events, and the tokens that prove who owns them."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pabal.domain.base.dates import Instant, Period
from pabal.domain.events.event import EventType
from pabal.domain.kakao.profile import AUTH_STATUS_BY_CODE, AuthStatus, Profile, Suspension, parse_suspension
from pabal.store.accounts import setup_changes
from pabal.store.engine.base import Reader, Tx, Value, transaction
from pabal.store.events import events
from pabal.store.rows import Select, find_page, given, in_period, reader, select

_COLUMNS = (
    "id, account_id, channel_id, category, cellphone, status, sender_key, is_enabled, created_at, changed_at,"
    " carrier, suspension"
)
_FIELDS = tuple(_COLUMNS.split(", "))

_from_row = reader(Profile, status=AUTH_STATUS_BY_CODE.__getitem__, is_enabled=bool, suspension=parse_suspension)
_PROFILES = Select(f"select {_COLUMNS} from profiles where deleted_at is null", _from_row)


class ProfileToken(NamedTuple):
    """A token that was sent; only its hash is stored."""

    id: int
    hash: bytes
    failed_attempts: int
    expires_at: Instant


class ProfileFilter(NamedTuple):
    """What a list filters by; None matches everything."""

    account_id: int
    channel_id: str | None = None
    sender_key: str | None = None
    status: AuthStatus | None = None
    cellphone: str | None = None
    category: str | None = None
    created: Period | None = None


def get_by_channel(tx: Tx, account_id: int, channel_id: str) -> Profile | None:
    return _PROFILES.fetch_one(tx, "and account_id = ? and channel_id = ?", (account_id, channel_id))


def get_by_sender_key(tx: Tx, account_id: int, sender_key: str) -> Profile | None:
    return _PROFILES.fetch_one(tx, "and account_id = ? and sender_key = ?", (account_id, sender_key))


def list_by_carrier(tx: Tx, carrier: str) -> list[Profile]:
    """Return the profiles that a carrier's relay manages, oldest first."""
    return sorted(_PROFILES.fetch_all(tx, "and carrier = ?", (carrier,)))


def get_approved(tx: Tx, carrier: str, channel_id: str) -> Profile | None:
    """Return the approved profile of a channel that a carrier's relay manages, of any account."""
    found = _PROFILES.fetch_all(tx, "and carrier = ? and channel_id = ?", (carrier, channel_id))
    return next((each for each in found if each.status is AuthStatus.APPROVAL), None)


def get_by_any_sender_key(tx: Tx, sender_key: str) -> Profile | None:
    """Return the profile with this sender key, of any account."""
    return _PROFILES.fetch_one(tx, "and sender_key = ?", (sender_key,))


def add(
    tx: Tx,
    account_id: int,
    channel_id: str,
    category: str,
    cellphone: str,
    now: Instant,
    carrier: str | None = None,
) -> int:
    """Add a profile that waits for its token, and return its id."""
    return tx.fetch_number(
        "insert into profiles (account_id, channel_id, category, cellphone, status, is_enabled,"
        " created_at, changed_at, is_swept, carrier) values (?, ?, ?, ?, ?, 1, ?, ?, 1, ?) returning id",
        (account_id, channel_id, category, cellphone, AuthStatus.WAITING.code, now, now, carrier),
    )


def update(
    tx: Tx, profile_id: int, category: str, cellphone: str, now: Instant, carrier: str | None = None
) -> None:
    """Update a profile from a repeated registration."""
    _change(tx, profile_id, "category = ?, cellphone = ?, carrier = ?", (category, cellphone, carrier), now)


def apply_remote(tx: Tx, profile_id: int, category: str, bar: Suspension | None, now: Instant) -> None:
    """Update a profile from its relay."""
    _change(tx, profile_id, "category = ?, suspension = ?", (category, bar.code if bar else None), now)


def release_sender_key(tx: Tx, sender_key: str) -> None:
    """Release the sender key of a deleted profile: a relay assigns the same key again."""
    tx.execute(
        "update profiles set sender_key = null where sender_key = ? and deleted_at is not null", (sender_key,)
    )


def approve(tx: Tx, profile_id: int, sender_key: str, now: Instant, bar: Suspension | None = None) -> None:
    """Approve a profile and set its sender key; its relay may have suspended it."""
    args = (AuthStatus.APPROVAL.code, sender_key, bar.code if bar else None)
    _change(tx, profile_id, "status = ?, sender_key = ?, suspension = ?", args, now)


def delete(tx: Tx, profile_id: int, now: Instant) -> None:
    """Mark a profile as deleted; its waiting messages are still to be cancelled."""
    _change(tx, profile_id, "deleted_at = ?, is_swept = 0", (now,), now)


def list_unswept(tx: Tx) -> list[int]:
    """Return the deleted profiles whose waiting messages are still to be cancelled."""
    return tx.fetch_values("select id from profiles where is_swept = 0 order by id")


def mark_swept(tx: Tx, profile_id: int) -> None:
    """Record that a deleted profile has no waiting messages any more."""
    tx.execute("update profiles set is_swept = 1 where id = ?", (profile_id,))


def find_deleted(tx: Tx, profile_ids: set[int]) -> set[int]:
    rows = tx.execute_list("select id from profiles where deleted_at is not null and id in ({list})", profile_ids)
    return {row[0] for row in rows}


def list_deleted(tx: Tx) -> set[int]:
    return set(tx.fetch_values("select id from profiles where deleted_at is not null"))


def set_enabled(tx: Tx, profile_id: int, is_enabled: bool, now: Instant) -> bool:
    """Enable or disable a profile; return whether it exists."""
    return _change(tx, profile_id, "is_enabled = ?", (int(is_enabled),), now)


def from_event(data: Mapping[str, Any]) -> Profile:
    """Return the profile of an event `sender.auth`, as it was then."""
    return _from_row(tuple(data.get(each) for each in _FIELDS))


@transaction(reader=Reader.SEARCHES)
def find(tx: Tx, wanted: ProfileFilter, page: int, page_size: int) -> tuple[int, list[Profile]]:
    """Return how many profiles match, and a page of them, newest first."""
    conditions = [
        ("deleted_at is null and account_id = ?", wanted.account_id),
        *given(
            ("channel_id = ?", wanted.channel_id),
            ("sender_key = ?", wanted.sender_key),
            ("status = ?", wanted.status.code if wanted.status else None),
            ("cellphone = ?", wanted.cellphone),
            ("category = ?", wanted.category),
        ),
        *in_period("created_at", wanted.created),
    ]
    total, rows = find_page(tx, _COLUMNS, "profiles", conditions, page_size, (page - 1) * page_size)
    return total, [_from_row(row) for row in rows]


def list_all(tx: Tx) -> list[tuple[str, Profile]]:
    """Return every profile with its account's name, oldest first."""
    rows = tx.fetch_all(
        "select a.name, p.* from accounts a join"
        f" (select {_COLUMNS} from profiles where deleted_at is null) p on p.account_id = a.id order by p.id"
    )
    return [(row[0], _from_row(row[1:])) for row in rows]


def count_tokens_since(tx: Tx, account_id: int, channel_id: str, cellphone: str, since: Instant) -> tuple[int, int]:
    """Return how many tokens were sent for an account since then, for a channel and to a number."""
    row = tx.fetch_one(
        "select count(*) filter (where channel_id = ?), count(*) filter (where cellphone = ?)"
        " from tokens where account_id = ? and sent_at > ?",
        (channel_id, cellphone, account_id, since),
    )
    return (row[0], row[1]) if row else (0, 0)


def add_token(
    tx: Tx,
    account_id: int,
    profile_id: int,
    channel_id: str,
    cellphone: str,
    hash: bytes,
    now: Instant,
    expires_at: Instant,
) -> None:
    """Add the hash of a token that is about to be sent; it replaces earlier ones."""
    tx.execute(
        "insert into tokens (account_id, profile_id, channel_id, cellphone, hash, failed_attempts, sent_at,"
        " expires_at)"
        " values (?, ?, ?, ?, ?, 0, ?, ?)",
        (account_id, profile_id, channel_id, cellphone, hash, now, expires_at),
    )


def newest_token(tx: Tx, profile_id: int) -> ProfileToken | None:
    """Return the newest token of a profile, the only valid one."""
    return select(ProfileToken, "tokens").fetch_one(
        tx, "where profile_id = ? order by id desc limit 1", (profile_id,)
    )


def add_failed_attempts(tx: Tx, token_id: int, times: int = 1) -> None:
    """Count failed attempts; -1 takes one back."""
    tx.execute("update tokens set failed_attempts = failed_attempts + ? where id = ?", (times, token_id))


def delete_expired_tokens(tx: Tx, before: Instant, limit: int) -> int:
    """Delete expired tokens that were sent before `before`; return how many."""
    return tx.execute(
        "delete from tokens where id in (select id from tokens where sent_at < ? and expires_at < ? limit ?)",
        (before, before, limit),
    )


def _change(tx: Tx, profile_id: int, changes: str, args: Sequence[Value], now: Instant) -> bool:
    """Change a profile, and record it as an event if it is in another state then; return whether it exists."""
    before = _PROFILES.fetch_one(tx, "and id = ?", (profile_id,))
    if not before:
        return False
    tx.execute(f"update profiles set {changes}, changed_at = ? where id = ?", (*args, now, profile_id))
    setup_changes.record(tx, before.account_id)
    row = tx.fetch_one(f"{_PROFILES.sql} and id = ?", (profile_id,))
    if row and _state(before) != _state(_from_row(row)):
        data = dict(zip(_FIELDS, row, strict=True))
        key = f"{profile_id} {now} {data['status']} {data['is_enabled']} {data['suspension']}"
        phone = data["cellphone"] or None
        events.record(tx, before.account_id, EventType.SENDER_AUTH, key, data, now, phone=phone)
    return True


def _state(profile: Profile) -> tuple[object, ...]:
    """Return what callers are told about: whether the profile can send, and if not, why."""
    return profile.status, profile.sender_key, profile.is_enabled, profile.suspension
