"""Erases numbers and texts of requests and messages, at once or as soon as their messages have ended."""

from collections.abc import Iterable, Sequence

from pabal.domain.base import identifiers
from pabal.store.engine.base import Tx

# The rows stay: by these the simulator recognizes a repeated submit.
_BLANK_SIMULATED = (
    "update simulated_messages set phone = 0, sender = '', subject = null, content = '', buttons = null,"
    " brand = null, parts = null"
)


def has_jobs(tx: Tx, identity: bytes) -> bool:
    """Return whether a message or its fallback, or any message of a request, is in the queue."""
    if len(identity) == identifiers.REQUEST_ID_BYTES:
        ranges = [identifiers.message_id_range(identity)]
    else:
        ranges = [(one, one) for one in _with_fallback(tx, identity)]
    slot = identifiers.slot_of(identity)
    return any(
        tx.fetch_one("select 1 from jobs where id between ? and ? and slot = ? limit 1", (low, high, slot))
        for low, high in ranges
    )


def erase(tx: Tx, identity: bytes) -> None:
    """Erase a request, or a message and its fallback."""
    if len(identity) == identifiers.REQUEST_ID_BYTES:
        erase_request(tx, identity)
    else:
        erase_messages(tx, _with_fallback(tx, identity))


def _with_fallback(tx: Tx, message_id: bytes) -> list[bytes]:
    """Return the ids of a message and of its fallback, which may not exist."""
    request_id, slot = identifiers.request_id_of(message_id), identifiers.slot_of(message_id)
    row = tx.fetch_one("select total from requests where id = ? and slot = ?", (request_id, slot))
    number = identifiers.number_of(message_id)
    if row is None or number > row[0]:
        return [message_id]
    return [message_id, identifiers.make_message_id(request_id, number + row[0])]


def list_messages(tx: Tx, identity: bytes) -> list[tuple[bytes, int]]:
    """Return the messages that are erased with this request or message, each with its account."""
    is_request = len(identity) == identifiers.REQUEST_ID_BYTES
    ids = _with_fallback(tx, identity) if not is_request else []
    ranges = [identifiers.message_id_range(identity)] if is_request else [(one, one) for one in ids]
    found = [
        tx.fetch_all(
            "select id, account_id from messages where id between ? and ? and slot = ?",
            (low, high, identifiers.slot_of(identity)),
        )
        for low, high in ranges
    ]
    return [(row[0], row[1]) for rows in found for row in rows]


def postpone(tx: Tx, identities: Iterable[bytes]) -> None:
    """Note requests or messages to erase when they have ended."""
    tx.execute_many(
        "insert into pending_erasures (id) select v.id{as_bytes} from (values {rows}) as v(id) where true"
        " on conflict (id) do nothing",
        [(one,) for one in identities],
    )


def list_pending(tx: Tx, after: bytes, limit: int) -> list[bytes]:
    """Return some requests and messages to erase, in order of their ids, after an id."""
    rows = tx.fetch_all("select id from pending_erasures where id > ? order by id limit ?", (after, limit))
    return [row[0] for row in rows]


def delete_pending(tx: Tx, identities: Iterable[bytes]) -> None:
    """Forget requests and messages that have been erased."""
    tx.execute_many("delete from pending_erasures where id in ({list})", [(one,) for one in identities])


def erase_request(tx: Tx, request_id: bytes) -> None:
    """Erase the numbers and texts of a request and its messages; their outcomes stay."""
    slot = identifiers.slot_of(request_id)
    low, high = identifiers.message_id_range(request_id)
    tx.execute(
        "update requests set content = '', subject = null, buttons = null, parts = null, variables = null,"
        " sender = '', image_link = null, fallback_sender = null, fallback_content = null, opt_out_number = null,"
        " brand = case when brand is null then null else '{}' end where id = ? and slot = ?",
        (request_id, slot),
    )
    tx.execute("delete from images where request_id = ? and slot = ?", (request_id, slot))
    tx.execute(
        "update messages set receiver = 0, variables = null, content = null, reference = null"
        " where id between ? and ? and slot = ?",
        (low, high, slot),
    )
    tx.execute("delete from attempts where message_id between ? and ? and slot = ?", (low, high, slot))
    tx.execute(f"{_BLANK_SIMULATED} where message_id between ? and ?", (low, high))


def erase_messages(tx: Tx, message_ids: Sequence[bytes]) -> None:
    """Erase the numbers and texts of messages; what they share with others of their request stays."""
    ids = [(one,) for one in message_ids]
    tx.execute_many(
        "update messages set receiver = 0, variables = null, content = null, reference = null"
        " where id in ({list}) and id {within} and slot {same_slot}",
        ids,
    )
    tx.execute_many(
        "delete from attempts where message_id in ({list}) and message_id {within} and slot {same_slot}", ids
    )
    tx.execute_many(f"{_BLANK_SIMULATED} where message_id in ({{list}})", ids)
