"""Turns the events of an account into posts of one of its webhooks, and gives up what has waited too long."""

import logging
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pabal.domain.base import dates
from pabal.domain.base.codes import Code, Refused
from pabal.domain.base.dates import DAY, Instant
from pabal.domain.events.event import NUMBERS_PER_MS, Event, EventType, Positions, format_event_id, lowest_number
from pabal.domain.events.webhook import Webhook, WebhookFormat
from pabal.service.context import Context
from pabal.service.events import read_messages
from pabal.service.relay.categories import read_sender_categories
from pabal.service.webhooks.retries import MAX_BODY_BYTES, MAX_ITEMS, MAX_WAIT_MS
from pabal.store.engine.base import Reader, Tx, transaction
from pabal.store.events import events, webhook_posts, webhooks
from pabal.store.events.webhook_posts import MAX_INSTANT, WebhookPost, WebhookProgress

EVENTS_PER_BATCH = 4 * MAX_ITEMS
"""Most events that are turned into posts at once."""


class NewPost(NamedTuple):
    """What a webhook is told at once."""

    type: EventType
    event_ids: list[bytes]
    body: bytes
    """Compressed, where it is to be stored."""
    format: WebhookFormat = WebhookFormat.PABAL


class PostBatch(NamedTuple):
    """Posts made from some events, and how far that is."""

    stored: WebhookProgress
    """What is stored."""
    reached: dict[int, int]
    posts: list[NewPost]
    has_more: bool = False
    held_until: Instant | None = None
    """Until when the events wait for others to be posted with them."""
    lag_ms: int = 0
    """How long the first of the events has waited, where there are more."""


@transaction(reader=Reader.BACKGROUND)
def read_batch(
    tx: Tx, context: Context, webhook: Webhook, known: PostBatch | None, now: Instant
) -> PostBatch | None:
    """Return posts for events that are new since the last batch; None: there is no such webhook any more.

    A batch may end behind events that it does not want, which is not stored; `known` is such a batch.
    """
    stored = webhook_posts.get_progress(tx, webhook.id)
    if stored is None:
        return None
    begin = known.reached if known and known.stored == stored else stored.positions
    reachable = context.nodes.reachable(context.slots.numbers) if context.nodes.lost else None
    page = events.read_after(tx, webhook.account_id, begin, EVENTS_PER_BATCH, webhook.events, reachable)
    wanted = [each for each in page.events if webhook.wants(each.type, each.product)]
    if wanted and len(wanted) < MAX_ITEMS and not page.has_more:
        numbered_at = min(each.number for each in wanted) // NUMBERS_PER_MS
        ready_at = min(numbered_at, now) + MAX_WAIT_MS
        if now < ready_at:
            return PostBatch(stored, begin, [], held_until=ready_at)
    posts = [
        each._replace(body=webhook_posts.pack_body(each.body))
        for each in _make_posts(tx, context, webhook.format, wanted, now)
    ]
    oldest = min((each.number // NUMBERS_PER_MS for each in page.events), default=now)
    return PostBatch(stored, page.positions, posts, page.has_more, lag_ms=now - oldest if page.has_more else 0)


class PostPage(NamedTuple):
    """What webhooks would be told of some events in order, and how far that is."""

    posts: list[NewPost]
    positions: Positions


async def read_posts(context: Context, account_id: int, begin: Positions | Instant | None) -> PostPage | None:
    """Return what webhooks would be told behind positions, or since an instant; None: that is too long ago.

    Where `begin` is None there is nothing yet, but from where on to ask.

    Raises Refused: RATE_LIMITED, and SERVICE_UNAVAILABLE for what takes too long.
    """
    async with context.searches.acquire(account_id):
        return await context.store.read(_read_posts, context, account_id, begin, context.world.now())


@transaction(reader=Reader.SEARCHES)
def _read_posts(
    tx: Tx, context: Context, account_id: int, begin: Positions | Instant | None, now: Instant
) -> PostPage | None:
    last = events.last_positions(tx)
    if begin is None:
        return PostPage([], last)
    if isinstance(begin, int):
        begin = {slot: min(number, lowest_number(begin)) for slot, number in last.items()}
    elif events.is_expired(tx, begin):
        return None
    page = events.read_after(tx, account_id, begin, MAX_ITEMS)
    return PostPage(_make_posts(tx, context, WebhookFormat.PABAL, page.events, now), page.positions)


def store_batch(
    tx: Tx, webhook_id: int, stored: WebhookProgress, reached: Positions, posts: Sequence[WebhookPost]
) -> bool:
    """Store posts and how far the events are posts now.

    Says no if another process has done so, or if something was erased since the events were read.
    """
    if not webhook_posts.move_positions(tx, webhook_id, stored, reached):
        return False
    webhook_posts.add(tx, posts)
    return True


def make_body(type: EventType, timestamp: str, items: Sequence[bytes]) -> bytes:
    """Return the body of a post; `items` are JSON already."""
    head = f'{{"type":"{type.code}","timestamp":"{timestamp}","data":{{"items":['.encode()
    return head + b",".join(items) + b"]}}"


def _make_posts(
    tx: Tx, context: Context, webhook_format: WebhookFormat, wanted: Sequence[Event], now: Instant
) -> list[NewPost]:
    ends = [each for each in wanted if each.type is EventType.MESSAGE_RESULT]
    if webhook_format is not WebhookFormat.PABAL:
        return _make_foreign_posts(tx, context, webhook_format, ends)
    timestamp = dates.format_iso(now, context.policy.zone)
    others = [each for each in wanted if each.type is not EventType.MESSAGE_RESULT]
    has_profiles = any(each.type is EventType.SENDER_AUTH for each in wanted)
    items = context.webhooks.build_items(
        wanted,
        read_messages(tx, ends),
        events.get_data(tx, [each.id for each in others], {each.slot for each in others}) if others else {},
        read_sender_categories(tx, context) if has_profiles else {},
    )
    by_type: dict[EventType, list[tuple[bytes, bytes]]] = {}
    for event, item in zip(wanted, items, strict=True):
        if item is not None:
            by_type.setdefault(event.type, []).append((event.id, item))
    return [
        NewPost(type, [id for id, _ in part], make_body(type, timestamp, [each for _, each in part]))
        for type, encoded in by_type.items()
        for part in _parts(encoded)
    ]


def _make_foreign_posts(
    tx: Tx, context: Context, webhook_format: WebhookFormat, ends: Sequence[Event]
) -> list[NewPost]:
    """Return deliveries of results in the shape of another relay; those of an erased message tell nothing."""
    foreign = context.webhooks.load_format(webhook_format)
    read = read_messages(tx, ends)
    by_group: dict[str, list[tuple[bytes, bytes]]] = {}
    for (message, _), (group_key, item) in zip(read.found, foreign.build_items(tx, read), strict=True):
        by_group.setdefault(group_key, []).append((message.id, item))
    posts: list[NewPost] = []
    for group_key, encoded in by_group.items():
        for part in _parts(encoded):
            ids = [id for id, _ in part]
            body = foreign.build_body(group_key, format_event_id(ids[0]), [each for _, each in part])
            posts.append(NewPost(EventType.MESSAGE_RESULT, ids, body, webhook_format))
    return posts


def _parts(encoded: Sequence[tuple[bytes, bytes]]) -> Iterator[list[tuple[bytes, bytes]]]:
    """Yield the items of each post: as many as fit."""
    part: list[tuple[bytes, bytes]] = []
    size = 0
    for each in encoded:
        if part and (len(part) == MAX_ITEMS or size + len(each[1]) > MAX_BODY_BYTES):
            yield part
            part, size = [], 0
        part.append(each)
        size += len(each[1]) + 1
    if part:
        yield part


BACKLOG_MS = 7 * DAY
"""How long the events of an endpoint that gets nothing are kept for it."""
MAX_BACKLOG = 1_000_000
"""Most events that are kept for an endpoint; then the oldest are given up."""
CUT_INTERVAL_S = 15 * 60.0
"""How often the backlogs of webhooks are cut that nothing is posted to."""
MAX_SKIP_TRIES = 10
"""How often to try to skip a backlog that changes at the same time."""

log = logging.getLogger("pabal.webhooks")


async def cut_unused_backlogs(context: Context) -> None:
    """Cut the backlogs of disabled webhooks; those of others are cut by who posts to them.

    Only what has become too old since the last time is counted: how much is newer does not matter. Raises
    StoreUnavailable.
    """
    for webhook in await context.store.read(_list_disabled):
        await cut_backlog(context, webhook, context.world.now() - BACKLOG_MS)


async def cut_backlog(context: Context, webhook: Webhook, before: Instant, max_events: int | None = None) -> bool:
    """Give up the events of an endpoint from before an instant, and the oldest beyond a number.

    Returns False if its progress has changed meanwhile: then nothing was done. Raises StoreUnavailable.
    """
    stored = await context.store.read(webhook_posts.get_progress, webhook.id)
    if stored is None:
        return True
    cut = await context.store.read(webhook_posts.plan_cut, webhook, stored.positions, before, max_events)
    reached, planned = cut or (stored.positions, 0)
    dropped = await context.store.write(_cut, webhook.id, stored, reached, before, planned)
    if dropped:
        context.metrics.webhook_events.add(dropped, "dropped")
        log.warning("events of a webhook given up", extra={"webhook_id": webhook.id, "events": dropped})
    return dropped is not None


async def skip_backlog(context: Context, webhook: Webhook) -> None:
    """Give up everything that an endpoint has missed so far.

    Raises Refused(SERVICE_UNAVAILABLE) if its progress changes all the time.
    """
    for _ in range(MAX_SKIP_TRIES):
        if await cut_backlog(context, webhook, MAX_INSTANT):
            return
    raise Refused(Code.SERVICE_UNAVAILABLE)


@transaction(reader=Reader.BACKGROUND)
def _list_disabled(tx: Tx) -> list[Webhook]:
    return webhooks.list_disabled(tx)


def _cut(
    tx: Tx, webhook_id: int, stored: WebhookProgress, reached: dict[int, int], before: Instant, dropped: int
) -> int | None:
    """Cut a backlog as planned, and give up old posts; return how many events that were, None if it has changed."""
    if stored.positions != reached and not webhook_posts.move_positions(tx, webhook_id, stored, reached):
        return None
    dropped += webhook_posts.give_up_old(tx, webhook_id, before)
    webhooks.add_dropped(tx, webhook_id, dropped)
    return dropped
