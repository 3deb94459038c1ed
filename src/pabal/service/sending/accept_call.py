"""Accepts a call with several sends, from an endpoint of another relay: it is stored and counted as a whole."""

import json
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from pabal.domain.sends.message import PRODUCT_BY_NUMBER
from pabal.service.context import Context
from pabal.service.sending.accept import AcceptedRequest, NewRequest, announce_request, store_requests
from pabal.store.engine.base import Priority, Tx, transaction
from pabal.store.messages import compat_names, compat_requests
from pabal.store.messages.compat_names import NamedMessage
from pabal.store.messages.compat_requests import CompatRequest

MAX_STORED_TOGETHER = 1000
"""Messages that one transaction stores: other writes wait for it."""


class CallSize(NamedTuple):
    """What a call is: the relay whose endpoint it used, how many messages it has, how many were refused."""

    kind: str
    total: int
    refused: int
    allows_duplicates: bool
    sender_name: str | None = None
    """What the caller finds the call by."""
    caller: str | None = None
    """What the call says of its caller."""
    has_names: bool = False
    """Whether the references of its messages are names that the caller finds them by."""
    is_once: bool = False
    """Whether a repeat, which the key of the first send tells, stores nothing, whatever it has besides."""
    sequences: Sequence[Sequence[int]] = ()
    """The numbers that the messages of each request have in the call; empty: 1, 2, 3 …"""


async def accept_call(
    context: Context,
    account_id: int,
    prepared: Sequence[NewRequest],
    size: CallSize,
    group_id: bytes | None = None,
) -> list[AcceptedRequest]:
    """Store the sends of a call, and return their requests once they are durable.

    Unless the call has an id, it is that of the first. Each has an Idempotency-Key: a repeat of the call, after
    whatever happened to it, stores what is missing and gets the same answer. The account's limits count the whole.

    Raises Refused: RATE_LIMITED or LIMIT_EXCEEDED, DUPLICATE for a key that was used for a different call.
    """
    messages = sum(len(each.messages) for each in prepared)
    cost = sum(sum(each.amounts) for each in prepared)
    charge = await context.limiter.charge(account_id, messages, cost)
    accepted: list[AcceptedRequest] = []
    with charge:
        for part in _cut(prepared):
            first_id = accepted[0].request_id if accepted else None
            rest = size._replace(sequences=size.sequences[len(accepted) :])
            given = _CallPart(part, account_id, rest, group_id or first_id, first_id)
            stored = await context.store.write(_store_part, given)
            accepted += stored
            for request, each in zip(part, stored, strict=True):
                if each.is_new:
                    announce_request(context, PRODUCT_BY_NUMBER[request.request.product], request, each, charge)
    if not any(each.is_new for each in accepted):
        charge.refund()
    return accepted


def _cut(prepared: Sequence[NewRequest]) -> list[list[NewRequest]]:
    """Return the requests in parts that are stored together."""
    parts: list[list[NewRequest]] = []
    room = 0
    for each in prepared:
        if not parts or len(each.messages) > room:
            parts.append([])
            room = MAX_STORED_TOGETHER
        parts[-1].append(each)
        room -= len(each.messages)
    return parts


class _CallPart(NamedTuple):
    """Requests of a call that are stored together; `first_id` is its first request, None where this part has it."""

    requests: Sequence[NewRequest]
    account_id: int
    size: CallSize
    group_id: bytes | None
    first_id: bytes | None

    @property
    def shares_statements(self) -> bool:
        """Whether it may be stored with parts of other calls: what its first request tells decides nothing."""
        return not self.size.is_once or len(self.requests) == 1


def _store_parts(tx: Tx, parts: Sequence[_CallPart]) -> list[list[AcceptedRequest]]:
    """Store parts of several calls, and return the requests of each: single sends share their statements."""
    shared = [each for part in parts if part.shares_statements for each in part.requests]
    accepted = iter(store_requests(tx, shared) if shared else [])
    found: list[list[AcceptedRequest]] = []
    rows: list[CompatRequest] = []
    named: list[NewRequest] = []
    for part in parts:
        if part.shares_statements:
            stored = list(islice(accepted, len(part.requests)))
        else:
            stored = _store_once(tx, part.requests)
        found.append(stored)
        rows += _list_rows(part, stored)
        if part.size.has_names:
            named += [new for new, each in zip(part.requests, stored, strict=True) if each.is_new]
    compat_requests.add_all(tx, rows)
    names = [NamedMessage(each.account_id, row[-1], row[0]) for each in named for row in each.messages if row[-1]]
    compat_names.add_all(tx, names)
    return found


@transaction(retryable=True, priority=Priority.PROMPT, batched_by=_store_parts)
def _store_part(tx: Tx, part: _CallPart) -> list[AcceptedRequest]:
    """Store requests of one call; the store batches concurrent calls through `_store_parts`."""
    return _store_parts(tx, [part])[0]


def _list_rows(part: _CallPart, accepted: Sequence[AcceptedRequest]) -> list[CompatRequest]:
    """Return which call new requests belong to; the row of its first one has what the whole call has."""
    _, account_id, size, group_id, first_id = part
    first_id = first_id or accepted[0].request_id
    rows: list[CompatRequest] = []
    for (request_id, is_new, *_), numbers in zip(accepted, size.sequences or [()] * len(accepted), strict=False):
        if is_new:
            kind, total, refused, allows_duplicates, sender_name, caller, *_ = size
            if request_id != first_id:
                total, refused, allows_duplicates = 0, 0, False
            rows.append(
                CompatRequest(
                    request_id,
                    account_id,
                    kind,
                    group_id or first_id,
                    total,
                    refused,
                    allows_duplicates,
                    sender_name,
                    caller,
                    json.dumps(numbers) if numbers else None,
                )
            )
    return rows


def _store_once(tx: Tx, part: Sequence[NewRequest]) -> list[AcceptedRequest]:
    """Store all requests of a call, or none where its first one is stored already."""
    accepted = store_requests(tx, part[:1])
    if not accepted[0].is_new:
        return accepted * len(part)
    return accepted + (store_requests(tx, part[1:]) if len(part) > 1 else [])
