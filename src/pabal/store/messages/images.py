"""Images of requests: equal ones of an account are stored once for each slot and month.

The bytes are in a row of their own, whose id is made of month, slot, account and content, so that it can exist only
once. The rows of requests refer to it. Both are of one month, so they are dropped together.
"""

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

from pabal.domain.base import identifiers
from pabal.domain.content.image import Image
from pabal.store.engine.base import Tx
from pabal.store.engine.postgres import partitions

SHARED_SINCE_MIGRATION = 9
"""Versions that know an earlier migration only do not find the bytes of an image that refers to others."""
_BEHIND_REQUEST = b"\xff"
"""Behind what an id of bytes has in common with a request's: it is not among the images of any request."""
SHARED_ID_BYTES = identifiers.REQUEST_ID_BYTES + len(_BEHIND_REQUEST) + hashlib.sha256().digest_size
_CLOSED = b""
"""In the row of the bytes: no further request may refer to them."""


class ImageRow(NamedTuple):
    """An image of a new request."""

    key: bytes
    slot: int
    content_type: str
    file_name: str
    body: bytes
    shared_id: bytes | None
    """The row of its bytes; None: it has them itself."""


def build_rows(
    request_id: bytes, account_id: int, images: Sequence[Image], *, are_shared: bool = True
) -> list[ImageRow]:
    """Return the rows of a request's images; built before the transaction, because others wait for that."""
    return [
        ImageRow(
            key,
            identifiers.slot_of(request_id),
            *image,
            _make_shared_id(request_id, account_id, image) if are_shared else None,
        )
        for key, image in zip(_keys(request_id, len(images)), images, strict=True)
    ]


def _keys(request_id: bytes, count: int) -> list[bytes]:
    """Return the keys of a request's images: its id, or if they are several, its id with the number of each.

    A version that knows of one image finds none of several, so that it sends none without the others.
    """
    return [request_id] if count == 1 else [request_id + bytes((number,)) for number in range(1, count + 1)]


def _make_shared_id(request_id: bytes, account_id: int, image: Image) -> bytes:
    """Return the id of an image's bytes: it begins like that of a request, in the month and slot of the images."""
    begin = partitions.month_start(partitions.month_at(identifiers.requested_at(request_id)))
    digest = hashlib.sha256(f"{account_id} {image.content_type} ".encode() + image.body).digest()
    return identifiers.make_request_id(begin, identifiers.slot_of(request_id), 0) + _BEHIND_REQUEST + digest


def add_all(tx: Tx, rows: Sequence[ImageRow]) -> None:
    """Store the images of requests; bytes that are stored already are only referred to."""
    if not rows:
        return
    shared = {row.shared_id: row for row in rows if row.shared_id is not None}
    found = tx.execute_list(
        "select request_id, shared_id from images where request_id in ({list}) and request_id {within}"
        " and slot {same_slot} {for_share}",
        sorted(shared),
    )
    known: dict[bytes, bytes | None] = dict(found)
    for one in sorted(shared.keys() - known.keys()):
        row = shared[one]
        tx.execute(
            "insert into images (request_id, slot, content_type, file_name, body) values (?, ?, ?, '', ?)"
            " on conflict do nothing",
            (one, row.slot, row.content_type, row.body),
        )
    tx.execute_many(
        "insert into images (request_id, slot, content_type, file_name, body, shared_id)"
        " select v.key, v.slot, v.content_type, v.file_name, v.body, v.shared_id{as_bytes}"
        " from (values {rows}) as v(key, slot, content_type, file_name, body, shared_id)",
        [
            row._replace(shared_id=None)
            if row.shared_id is None or known.get(row.shared_id) == _CLOSED
            else row._replace(body=b"")
            for row in rows
        ],
    )


def get(tx: Tx, request_id: bytes) -> tuple[Image, ...]:
    """Return the images of a request, in order; none where the bytes of one are missing."""
    rows = tx.fetch_all(
        "select content_type, file_name, body, shared_id from images where request_id between ? and ? and slot = ?"
        " order by request_id",
        (request_id, request_id + _BEHIND_REQUEST, identifiers.slot_of(request_id)),
    )
    found = tx.execute_list(
        "select request_id, body from images where request_id in ({list}) and request_id {within}"
        " and slot {same_slot}",
        sorted({row[3] for row in rows if row[3] is not None}),
    )
    bodies: dict[bytes, bytes] = dict(found)
    if any(row[3] is not None and row[3] not in bodies for row in rows):
        return ()
    return tuple(Image(row[0], row[1], row[2] if row[3] is None else bodies[row[3]]) for row in rows)


def delete(tx: Tx, request_id: bytes) -> None:
    """Delete the images of a request; bytes that nobody else uses follow, by `delete_unused`."""
    rows = tx.fetch_all(
        "delete from images where request_id between ? and ? and slot = ? returning shared_id",
        (request_id, request_id + _BEHIND_REQUEST, identifiers.slot_of(request_id)),
    )
    tx.execute_many(
        "insert into pending_erasures (id) values {rows}"
        # locked also if it is there, because it is forgotten by one who does not see that this reference is gone
        " on conflict (id) do update set id = excluded.id",
        sorted({row for row in rows if row[0] is not None}),
    )


def delete_unused(tx: Tx, shared_id: bytes) -> bool:
    """Delete the bytes of images if no request uses them; return False if they have to be looked at again.

    The first call closes them, and the next one, in a later transaction, deletes them: it sees every request that
    had found them open. A single transaction would not see those that are stored while it runs.
    """
    place = (shared_id, identifiers.slot_of(shared_id))
    row = tx.fetch_one("select shared_id from images where request_id = ? and slot = ?", place)
    if row is None:
        return True
    if _is_used(tx, shared_id):
        tx.execute("update images set shared_id = null where request_id = ? and slot = ?", place)
    elif row[0] is None:
        tx.execute("update images set shared_id = ? where request_id = ? and slot = ?", (_CLOSED, *place))
        return False
    else:
        tx.execute("delete from images where request_id = ? and slot = ?", place)
    return True


def _is_used(tx: Tx, shared_id: bytes) -> bool:
    """Return whether an image of its month refers to these bytes."""
    low, high = partitions.month_bounds(partitions.month_at(identifiers.requested_at(shared_id)), "images")
    found = tx.fetch_one(
        "select 1 from images where shared_id = ? and slot = ? and request_id >= ? and request_id < ? limit 1",
        (shared_id, identifiers.slot_of(shared_id), low, high),
    )
    return found is not None
