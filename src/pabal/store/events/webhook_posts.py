"""Posts of webhooks: what they contain is stored before the first try, and stays the same until delivery."""

import zlib
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from pabal.domain.base.dates import Instant
from pabal.domain.events.event import (
    EVENT_ID_BYTES,
    NUMBERS_PER_MS,
    Positions,
    decode_positions,
    encode_positions,
    format_event_id,
    lowest_number,
)
from pabal.domain.events.webhook import WEBHOOK_FORMAT_BY_CODE, Webhook, WebhookFormat
from pabal.store.engine.base import Reader, Tx, transaction
from pabal.store.events import events
from pabal.store.rows import Select, among, reader

MAX_DELIVERIES = 1000
"""Most tries of a webhook that are listed; older ones are deleted."""
MAX_INSTANT = 2**62
_ANY_TRIES = 2**31 - 1
_COMPRESSION_LEVEL = 1
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, Any]).decode


class WebhookPost(NamedTuple):
    """A delivery of events that was not accepted yet: its body is the same in every try."""

    id: bytes
    webhook_id: int
    event_ids: Sequence[bytes]
    packed: bytes
    """The body, compressed."""
    created_at: Instant
    tries: int
    due_at: Instant
    format: WebhookFormat = WebhookFormat.PABAL
    """What the body was made in, whatever its webhook has by now."""

    @property
    def body(self) -> bytes:
        return zlib.decompress(self.packed)


class WebhookProgress(NamedTuple):
    """How far the events of an account were turned into posts."""

    positions: dict[int, int]
    erasures: int
    """How often something of the account was erased."""


class DeliveryTry(NamedTuple):
    """A try to deliver a post, and what came of it."""

    webhook_id: int
    tried_at: Instant
    post_id: bytes
    event_ids: Sequence[bytes]
    number: int
    """Which try of its post it was, from 1."""
    status: int | None
    """Of HTTP; None: there was no answer."""
    answer: str
    """How the answer began."""
    error: str
    """Why there was no answer."""
    duration_ms: int


def _split(ids: bytes) -> list[bytes]:
    return [ids[begin : begin + EVENT_ID_BYTES] for begin in range(0, len(ids), EVENT_ID_BYTES)]


_POSTS = Select(
    "select id, webhook_id, event_ids, body, created_at, tries, due_at, format from webhook_posts",
    reader(WebhookPost, event_ids=_split, format=WEBHOOK_FORMAT_BY_CODE.__getitem__),
)
_TRIES = Select(
    "select webhook_id, tried_at, post_id, event_ids, try, status, answer, error, duration_ms"
    " from webhook_deliveries",
    reader(DeliveryTry, event_ids=_split),
)


def pack_body(body: bytes) -> bytes:
    return zlib.compress(body, _COMPRESSION_LEVEL)


def begin_now(tx: Tx, webhook_id: int) -> None:
    """Start a new webhook at the newest event."""
    tx.execute(
        "insert into webhook_positions (webhook_id, positions, erasures) values (?, ?, 0)",
        (webhook_id, encode_positions(events.last_positions(tx))),
    )


def get_progress(tx: Tx, webhook_id: int) -> WebhookProgress | None:
    """Return how far events were turned into posts of a webhook; None: there is no such webhook."""
    row = tx.fetch_one("select positions, erasures from webhook_positions where webhook_id = ?", (webhook_id,))
    return WebhookProgress(decode_positions(row[0]), row[1]) if row else None


def move_positions(tx: Tx, webhook_id: int, begin: WebhookProgress, end: Positions) -> bool:
    """Record that posts were made of events; return False if the progress is not `begin` any more."""
    return tx.changes(
        "update webhook_positions set positions = ? where webhook_id = ? and positions = ? and erasures = ?",
        (encode_positions(end), webhook_id, encode_positions(begin.positions), begin.erasures),
    )


def rewind(tx: Tx, webhook_id: int, since: Instant) -> None:
    """Have the events numbered at `since` or later turned into posts again."""
    progress = get_progress(tx, webhook_id)
    if progress is not None:
        begin = lowest_number(since)
        earlier = {slot: min(number, begin) for slot, number in progress.positions.items()}
        move_positions(tx, webhook_id, progress, earlier)


def add(tx: Tx, posts: Iterable[WebhookPost]) -> None:
    """Store new posts."""
    for post in posts:
        tx.execute(
            "insert into webhook_posts (id, webhook_id, event_ids, body, created_at, tries, due_at, format)"
            " values (?, ?, ?, ?, ?, ?, ?, ?)",
            (post.id, post.webhook_id, b"".join(post.event_ids), *post[3:7], post.format.code),
        )


def list_due(
    tx: Tx, webhook_id: int, until: Instant, limit: int, excluded: Collection[bytes] = ()
) -> list[WebhookPost]:
    """Return some posts of a webhook that are due by an instant, in order."""
    due = tx.fetch_values(
        "select id from webhook_posts where webhook_id = ? and due_at <= ? order by due_at, id limit ?",
        (webhook_id, until, limit + len(excluded)),
    )
    wanted = [one for one in due if one not in excluded][:limit]
    found = {each.id: each for each in _POSTS.fetch_list(tx, "where id in ({list})", wanted)}
    return [found[one] for one in wanted if one in found]


def count(tx: Tx, webhook_id: int) -> int:
    """Return how many posts of a webhook were not delivered yet."""
    return tx.fetch_number("select count(*) from webhook_posts where webhook_id = ?", (webhook_id,))


def next_due_at(tx: Tx, webhook_id: int, after: Instant) -> Instant | None:
    """Return when the next post of a webhook is due that is not due yet, None without one."""
    return tx.fetch_value(
        "select due_at from webhook_posts where webhook_id = ? and due_at > ? order by due_at limit 1",
        (webhook_id, after),
    )


def finish(tx: Tx, post_ids: Iterable[bytes]) -> None:
    """Delete posts that were delivered or given up."""
    tx.execute_list("delete from webhook_posts where id in ({list})", post_ids)


def retry(tx: Tx, post_id: bytes, tries: int, due_at: Instant) -> None:
    """Have a post tried again."""
    tx.execute("update webhook_posts set tries = ?, due_at = ? where id = ?", (tries, due_at, post_id))


def retry_all(tx: Tx, webhook_id: int, due_at: Instant, below_tries: int = _ANY_TRIES) -> None:
    """Have the posts of a webhook with fewer tries than these tried again by an instant: it works again."""
    tx.execute(
        "update webhook_posts set due_at = ? where webhook_id = ? and due_at > ? and tries < ?",
        (due_at, webhook_id, due_at, below_tries),
    )


def give_up_old(tx: Tx, webhook_id: int, before: Instant) -> int:
    """Delete posts made before an instant; return how many events they contained."""
    rows = tx.fetch_all(
        "select id, event_ids from webhook_posts where webhook_id = ? and created_at < ?", (webhook_id, before)
    )
    finish(tx, [row[0] for row in rows])
    return sum(len(row[1]) // EVENT_ID_BYTES for row in rows)


def add_tries(tx: Tx, tries: Iterable[DeliveryTry]) -> None:
    """Add tries to the list."""
    tx.execute_many(
        "insert into webhook_deliveries"
        " (webhook_id, tried_at, post_id, event_ids, try, status, answer, error, duration_ms)"
        " select v.column1, v.column2, v.column3, v.column4, v.column5, v.column6{as_big}, v.column7, v.column8,"
        " v.column9 from (values {rows}) as v where true on conflict do nothing",
        [(each.webhook_id, each.tried_at, each.post_id, b"".join(each.event_ids), *each[4:]) for each in tries],
    )


def list_tries(tx: Tx, webhook_id: int, limit: int = MAX_DELIVERIES, offset: int = 0) -> list[DeliveryTry]:
    """Return recent tries of a webhook, newest first."""
    return _TRIES.fetch_all(
        tx,
        "where webhook_id = ? order by tried_at desc, post_id desc limit ? offset ?",
        (webhook_id, max(0, min(limit, MAX_DELIVERIES - offset)), offset),
    )


def count_tries(tx: Tx, webhook_id: int) -> int:
    """Return how many tries of a webhook can be listed."""
    tries = tx.fetch_number("select count(*) from webhook_deliveries where webhook_id = ?", (webhook_id,))
    return min(tries, MAX_DELIVERIES)


def trim_tries(tx: Tx, webhook_id: int, before: Instant) -> None:
    """Delete tries beyond the limit, and those before an instant."""
    beyond = tx.fetch_number(
        "select tried_at from webhook_deliveries where webhook_id = ? order by tried_at desc limit 1 offset ?",
        (webhook_id, MAX_DELIVERIES),
    )
    until = max(before - 1, beyond)
    tx.execute("delete from webhook_deliveries where webhook_id = ? and tried_at <= ?", (webhook_id, until))


def delete_all(tx: Tx, webhook_id: int) -> None:
    """Delete everything of a webhook."""
    for table in ("webhook_positions", "webhook_posts", "webhook_deliveries"):
        tx.execute(f"delete from {table} where webhook_id = ?", (webhook_id,))


def erase(tx: Tx, account_id: int, event_ids: Collection[bytes]) -> None:
    """Erase events of an account from posts that were not delivered yet, and the answers to those that were.

    A post is not the same any more then; an empty one is deleted. Posts that are just being made are made again.
    """
    if not event_ids:
        return
    erased = set(event_ids)
    for (webhook_id,) in tx.fetch_all("select id from webhooks where account_id = ?", (account_id,)):
        tx.execute("update webhook_positions set erasures = erasures + 1 where webhook_id = ?", (webhook_id,))
        for post_id, ids in tx.fetch_all(
            "select id, event_ids from webhook_posts where webhook_id = ?", (webhook_id,)
        ):
            if not erased.isdisjoint(_split(ids)):
                _erase_from_post(tx, post_id, [one for one in _split(ids) if one not in erased])
        for tried_at, post_id, ids in tx.fetch_all(
            "select tried_at, post_id, event_ids from webhook_deliveries where webhook_id = ? and answer <> ''",
            (webhook_id,),
        ):
            if not erased.isdisjoint(_split(ids)):
                tx.execute(
                    "update webhook_deliveries set answer = ''"
                    " where webhook_id = ? and tried_at = ? and post_id = ?",
                    (webhook_id, tried_at, post_id),
                )


def _erase_from_post(tx: Tx, post_id: bytes, left: Sequence[bytes]) -> None:
    packed = tx.fetch_value("select body from webhook_posts where id = ?", (post_id,))
    if not left or packed is None:
        finish(tx, [post_id])
        return
    body = _decode(zlib.decompress(packed))
    words = {format_event_id(one) for one in left}
    body["data"]["items"] = [each for each in body["data"]["items"] if each["eventId"] in words]
    tx.execute(
        "update webhook_posts set body = ?, event_ids = ? where id = ?",
        (pack_body(_encode(body)), b"".join(left), post_id),
    )


class BacklogCut(NamedTuple):
    """How far a backlog is cut, and how many events are given up by that."""

    positions: dict[int, int]
    dropped: int


@transaction(reader=Reader.BACKGROUND)
def count_backlog(tx: Tx, webhook: Webhook, limit: int) -> int:
    """Return how many events wait for an endpoint, in posts or not, counted up to about a limit."""
    length = tx.fetch_number("select sum(length(event_ids)) from webhook_posts where webhook_id = ?", (webhook.id,))
    total = length // EVENT_ID_BYTES
    progress = get_progress(tx, webhook.id)
    for slot, begin, last in _slots(tx, progress.positions if progress else {}):
        if total < limit:
            total += _count(tx, webhook, slot, begin, last, limit - total)
    return total


class WaitingEvents(NamedTuple):
    """How many events wait for an endpoint, and since when the first does."""

    number: int
    since: Instant | None


@transaction(reader=Reader.BACKGROUND)
def read_waiting(tx: Tx, webhook: Webhook, limit: int) -> WaitingEvents:
    """Return what waits for an endpoint, in posts and among the first `limit` events behind its positions.

    An event in a post waits since the post was made, so those of a replay have not waited for days.
    """
    (length, since), *_ = tx.fetch_all(
        "select coalesce(sum(length(event_ids)), 0), min(created_at) from webhook_posts where webhook_id = ?",
        (webhook.id,),
    )
    total = int(length) // EVENT_ID_BYTES
    starts = [] if since is None else [int(since)]
    progress = get_progress(tx, webhook.id)
    for slot, begin, last in _slots(tx, progress.positions if progress else {}):
        (number, first), *_ = tx.fetch_all(
            "select count(*), min(number) from (select number, type, product from events where account_id = ?"
            " and slot = ? and number > ? and number <= ? order by number limit ?) as next"
            f" where {_kinds(webhook)}",
            (webhook.account_id, slot, begin, last, max(0, limit - total)),
        )
        total += int(number)
        starts += [] if first is None else [int(first) // NUMBERS_PER_MS]
    return WaitingEvents(total, min(starts, default=None))


@transaction(reader=Reader.BACKGROUND)
def plan_cut(
    tx: Tx, webhook: Webhook, positions: Positions, before: Instant, max_events: int | None = None
) -> BacklogCut | None:
    """Return how to cut a backlog behind these positions to events since an instant, and to a number of events.

    The oldest of each slot go. None: there is nothing to cut. Without a number only what is given up is counted.
    """
    oldest = lowest_number(before) - 1
    found = dict(positions)
    counts: dict[int, tuple[int, int]] = {}
    dropped = 0
    for slot, begin, last in _slots(tx, positions):
        if begin < oldest:
            until = min(oldest, last)
            dropped += _count(tx, webhook, slot, begin, until, None)
            begin = found[slot] = until
        if max_events is not None:
            counts[slot] = begin, _count(tx, webhook, slot, begin, last, None)
    total = sum(number for _, number in counts.values())
    for slot, (begin, number) in counts.items():
        excess = -(-number * (total - max_events) // total) if max_events is not None and total > max_events else 0
        if excess:
            found[slot] = _nth(tx, webhook, slot, begin, excess)
            dropped += excess
    return BacklogCut(found, dropped) if found != dict(positions) else None


def _slots(tx: Tx, positions: Positions) -> list[tuple[int, int, int]]:
    """Return the slots with events behind these positions, from where and to which number."""
    rows = tx.fetch_all("select slot, last, deleted from event_numbers order by slot")
    begins = [(slot, max(positions.get(slot, 0), deleted), last) for slot, last, deleted in rows]
    return [(slot, begin, last) for slot, begin, last in begins if begin < last]


def _wanted(webhook: Webhook) -> str:
    """Return the condition of events that an endpoint wants."""
    return f"account_id = ? and slot = ? and number > ? and number <= ? and {_kinds(webhook)}"


def _kinds(webhook: Webhook) -> str:
    types = sorted(each.number for each in webhook.events)
    products = sorted({0, *(each.number for each in webhook.products)}) if webhook.products else None
    return f"{among('type', types)} and {among('product', products)}"


def _count(tx: Tx, webhook: Webhook, slot: int, begin: int, last: int, limit: int | None) -> int:
    bound = "" if limit is None else f" limit {limit:d}"
    return tx.fetch_number(
        f"select count(*) from (select 1 from events where {_wanted(webhook)}{bound}) as wanted",
        (webhook.account_id, slot, begin, last),
    )


def _nth(tx: Tx, webhook: Webhook, slot: int, begin: int, number: int) -> int:
    """Return the number of the nth event behind a position."""
    found = tx.fetch_value(
        f"select number from events where {_wanted(webhook)} order by number limit 1 offset ?",
        (webhook.account_id, slot, begin, 2**62, number - 1),
    )
    return begin if found is None else found
