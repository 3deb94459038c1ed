"""Notices: what users are to be told by mail, written in the transaction that causes it."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from pabal.domain.base.dates import Instant
from pabal.domain.events.notice import NOTICE_KIND_BY_CODE, NoticeKind
from pabal.store.engine.base import Reader, Tx, transaction
from pabal.store.tolerant_read import read_rows

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, Any]).decode


class Notice(NamedTuple):
    """Something that users are to be told."""

    id: bytes
    kind: NoticeKind
    account_id: int | None
    """None: it is about the whole service."""
    data: Mapping[str, Any]


def add(
    tx: Tx,
    event_id: bytes | None,
    kind: NoticeKind,
    account_id: int | None,
    data: Mapping[str, object],
    now: Instant,
) -> None:
    """Add a notice of an event; without an id it was recorded before. `data` has nothing of receivers."""
    if event_id is not None:
        tx.execute(
            "insert into notices (id, kind, account_id, created_at, data) values (?, ?, ?, ?, ?)"
            " on conflict do nothing",
            (event_id, kind.code, account_id, now, _encode(data).decode()),
        )


@transaction(reader=Reader.BACKGROUND)
def has_any(tx: Tx) -> bool:
    """Return whether notices wait."""
    return tx.fetch_one("select 1 from notices limit 1") is not None


def list_some(tx: Tx, limit: int) -> tuple[list[bytes], list[Notice]]:
    """Return the ids of some waiting notices, oldest first, and those of them that can be read."""
    rows = tx.fetch_all("select id, kind, account_id, data from notices order by created_at, id limit ?", (limit,))
    read = read_rows(rows, lambda row: Notice(row[0], NOTICE_KIND_BY_CODE[row[1]], row[2], _decode(row[3])))
    return [row[0] for row in rows], list(read.values())


def delete(tx: Tx, ids: Iterable[bytes]) -> None:
    """Delete notices: they are in the mails of those who want them."""
    tx.execute_many("delete from notices where id in ({list})", [(one,) for one in ids])


def delete_old(tx: Tx, before: Instant, limit: int) -> int:
    """Delete some notices that were never mailed, since no mails are sent; return how many."""
    return tx.execute(
        "delete from notices where id in (select id from notices where created_at < ? order by created_at limit ?)",
        (before, limit),
    )
