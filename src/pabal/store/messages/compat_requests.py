"""Which requests a call of another relay's endpoint has made."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pabal.domain.base import identifiers
from pabal.store.engine.base import Tx
from pabal.store.rows import deletion, select


class CompatRequest(NamedTuple):
    """A request, the call that it belongs to, and in the row of the first one, what the call has in all."""

    request_id: bytes
    account_id: int
    kind: str
    group_id: bytes
    total: int = 0
    refused: int = 0
    allows_duplicates: bool = False
    sender_name: str | None = None
    """What the caller finds the call by: NHN Cloud's senderGroupingKey."""
    caller: str | None = None
    """What the call says of its caller."""
    sequence: str | None = None
    """The numbers of its messages in the call, as JSON; None: 1, 2, 3 …"""


_REQUESTS = select(CompatRequest, "compat_requests", allows_duplicates=bool)


def add_all(tx: Tx, rows: Sequence[CompatRequest]) -> None:
    """Store which call new requests belong to; one that is stored already stays as it is."""
    tx.execute_many(
        f"insert into compat_requests ({', '.join(CompatRequest._fields)}) values {{rows}}"
        " on conflict (request_id) do nothing",
        [(*row[:6], int(row.allows_duplicates), *row[7:]) for row in rows],
    )


def list_of_group(tx: Tx, account_id: int, kind: str, group_id: bytes) -> list[CompatRequest]:
    """Return the requests of a call, its first one first."""
    found = _REQUESTS.fetch_all(
        tx, "where account_id = ? and kind = ? and group_id = ? order by request_id", (account_id, kind, group_id)
    )
    return sorted(found, key=lambda each: not each.total)


def list_groups(tx: Tx, account_id: int, kind: str, since: bytes, before: bytes, limit: int) -> list[CompatRequest]:
    """Return the calls from one id on and before another, newest first, each as the row of its first request."""
    return _REQUESTS.fetch_all(
        tx,
        "where account_id = ? and kind = ? and group_id >= ? and group_id < ? and total > 0"
        " order by group_id desc limit ?",
        (account_id, kind, since, before, limit),
    )


def groups_by_request(tx: Tx, request_ids: Iterable[bytes]) -> dict[bytes, bytes]:
    """Return the call of each request that belongs to one."""
    rows = tx.execute_list(
        "select request_id, group_id from compat_requests where request_id in ({list})", request_ids
    )
    return dict(rows)


def find_by_sender_name(
    tx: Tx, account_id: int, kind: str, sender_name: str, since: bytes, before: bytes, limit: int
) -> list[bytes]:
    """Return the requests from one id on and before another that belong to calls of this name, newest first."""
    return tx.fetch_values(
        "select request_id from compat_requests where account_id = ? and kind = ? and sender_name = ?"
        " and request_id >= ? and request_id < ? order by request_id desc limit ?",
        (account_id, kind, sender_name, since, before, limit),
    )


def get(tx: Tx, request_ids: Iterable[bytes]) -> dict[bytes, CompatRequest]:
    """Return what is known of the calls that requests belong to, by request."""
    found = _REQUESTS.fetch_list(tx, "where request_id in ({list})", request_ids)
    return {each.request_id: each for each in found}


def erase(tx: Tx, request_id: bytes) -> None:
    """Forget what the caller of a request has named it, and itself."""
    tx.execute("update compat_requests set sender_name = null, caller = null where request_id = ?", (request_id,))


delete_old = deletion(
    "compat_requests", "request_id", "request_id", bound_of=lambda at: identifiers.make_request_id(at, 0, 0)
)
"""Forgets the calls of some requests."""
