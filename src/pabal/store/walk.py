"""Looking through an account's messages, newest first, from where one stopped: by way of its requests."""

from typing import NamedTuple

from pabal.domain import identity
from pabal.domain.message import Product
from pabal.domain.when import Instant, Period
from pabal.store import requests
from pabal.store.base import Tx, Value
from pabal.store.history import Filter, around, conditions, within
from pabal.store.messages import COLUMNS, Message, read
from pabal.store.requests import Request

FIRST_LOOK = 200
MOST_A_LOOK = 2000
MOST_LOOKS = 12
"""A search that finds little looks at 200 messages, then at ever more, and stops after 20,000 or so."""
NEWEST = b"\xff" * identity.MESSAGE_ID_BYTES
_TALK = frozenset(each.number for each in Product if not each.is_text)
"""Products whose messages may have a text that stands in for them."""


class Walked(NamedTuple):
    """What was found, newest first, and from where to go on: None where there is nothing more."""

    found: list[tuple[Message, Request]]
    further: bytes | None


class _Stretch(NamedTuple):
    """Some messages of one request, from one number to another."""

    request: bytes
    first: int
    last: int


def walk(tx: Tx, wanted: Filter, before: bytes, most: int) -> Walked:
    """Return up to so many messages below an id that fit.

    Without a receiver or a request to go by, fewer may be found although there are more: then it has looked far
    enough for one call, and `further` says where to go on.
    """
    if wanted.receiver is not None or wanted.request_id is not None or wanted.message_id is not None:
        found, further = _straight(tx, wanted, before, most)
    else:
        found, further = _by_requests(tx, wanted, before, most)
    shared = requests.get(tx, {identity.request_of(message.id) for message in found})
    return Walked([(message, shared[identity.request_of(message.id)]) for message in found], further)


def _straight(tx: Tx, wanted: Filter, before: bytes, most: int) -> tuple[list[Message], bytes | None]:
    where, args, needs_request = conditions(wanted)
    join = " join requests r on r.id = substr(m.id, 1, 13) and r.slot = m.slot" if needs_request else ""
    rows = tx.rows(
        f"select {COLUMNS} from messages m{join} where {where} and m.id < ? order by m.id desc limit ?",
        (*args, before, most + 1),
    )
    found = [read(row) for row in rows[:most]]
    return found, found[-1].id if len(rows) > most else None


def _by_requests(tx: Tx, wanted: Filter, before: bytes, most: int) -> tuple[list[Message], bytes | None]:
    found: list[Message] = []
    size = FIRST_LOOK
    for _ in range(MOST_LOOKS):
        stretches, further = _stretches(tx, wanted, before, size)
        seen = [message for message in _messages(tx, stretches) if _fits(message, wanted)]
        found += seen
        if len(found) > most:
            return found[:most], found[most - 1].id
        if further is None or len(found) == most:
            return found, further
        before, size = further, min(4 * size, MOST_A_LOOK)
    return found, before


def _stretches(tx: Tx, wanted: Filter, before: bytes, size: int) -> tuple[list[_Stretch], bytes | None]:
    """Return where about so many messages below an id lie, and what to go on below, None where that is all."""
    where, args = _of_requests(wanted)
    rows = tx.rows(
        f"select id, product, total from requests where account_id = ? and id <= ?{where} order by id desc limit ?",
        (wanted.account_id, identity.request_of(before), *args, size),
    )
    found: list[_Stretch] = []
    room = size
    for request, product, total in rows:
        last = _highest(product, total)
        if request == identity.request_of(before):
            last = min(last, identity.number_of(before) - 1)
        first = max(1, last - room + 1)
        if last >= 1:
            found.append(_Stretch(request, first, last))
            room -= last - first + 1
        if first > 1 or room <= 0:
            return found, identity.message_id(request, first)
    if len(rows) < size:
        return found, None
    return found, identity.message_id(rows[-1][0], 1)


def _highest(product: int, total: int) -> int:
    """Return the highest number that a message of a request can have, fallbacks included."""
    return 2 * total if product in _TALK else total


def _messages(tx: Tx, stretches: list[_Stretch]) -> list[Message]:
    rows = tx.rows_each(
        f"select {COLUMNS} from (values {{rows}}) as v cross join messages m"
        " where m.id between v.column1 and v.column2 and m.slot = v.column3",
        [
            (
                identity.message_id(request, first),
                identity.message_id(request, last),
                identity.slot_of(request),
            )
            for request, first, last in stretches
        ],
    )
    return sorted((read(row) for row in rows), key=lambda message: message.id, reverse=True)


def _of_requests(wanted: Filter) -> tuple[str, list[Value]]:
    """Return what can be said of the requests whose messages fit."""
    said: list[tuple[str, Value]] = []
    for column, value in (
        ("channel_id", wanted.channel_id),
        ("sender_key", wanted.sender_key),
        ("template_code", wanted.template_code),
    ):
        if value is not None:
            said.append((f"{column} = ?", value))
    if wanted.product is not None:
        or_stands_in = f" or product in ({','.join(map(str, sorted(_TALK)))})" if wanted.product.is_text else ""
        said.append((f"(product = ?{or_stands_in})", wanted.product.number))
    for period in (wanted.scheduled, wanted.month):
        said += within("scheduled_at", period)
    for period in (wanted.requested, around(wanted.scheduled), around(wanted.month)):
        said += _between(period)
    return "".join(f" and {sql}" for sql, _ in said), [value for _, value in said]


def _between(period: Period | None) -> list[tuple[str, Value]]:
    if period is None:
        return []
    sides = (("id >= ?", period.start), ("id < ?", period.end))
    return [(sql, identity.first_since(at)[: identity.REQUEST_ID_BYTES]) for sql, at in sides if at is not None]


def _fits(message: Message, wanted: Filter) -> bool:
    if wanted.product is not None and message.product is not wanted.product:
        return False
    if wanted.status is not None and message.status is not wanted.status:
        return False
    if wanted.template_code is not None and message.product is not Product.ALIMTALK:
        return False
    return wanted.completed is None or _is_within(message.completed_at, wanted.completed)


def _is_within(at: Instant | None, period: Period) -> bool:
    if at is None:
        return False
    return (period.start is None or at >= period.start) and (period.end is None or at < period.end)
