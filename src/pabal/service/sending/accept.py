"""Accepts a send: stores its request, messages and jobs in one transaction."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from pabal.domain.base import identifiers
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.base.dates import Instant
from pabal.domain.people.opt_out import AdReceiver
from pabal.domain.sends.message import Outcome, Product
from pabal.domain.sends.price import Hundredths, encode_amounts
from pabal.domain.sends.sending import SMALL_RECEIVERS, Sending
from pabal.service.account_limiter import Charge
from pabal.service.context import Context
from pabal.service.fair_queue import SWEPT_BEFORE_MS, LaneKey
from pabal.service.next_due import refresh_next_due
from pabal.service.sending.budgets import amounts_of
from pabal.service.sending.duplicates import DuplicateGuard, build_guard, find_duplicates
from pabal.service.sending.preconditions import WAKE_HORIZON_MS, build_ad_receivers, build_images, choose_carrier
from pabal.store.accounts import audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import NodeUnavailable, Priority, Tx, transaction
from pabal.store.messages import idempotency_keys, images, messages, requests
from pabal.store.messages.idempotency_keys import IdempotencyKeyId, KeyedRequest
from pabal.store.people import opt_outs
from pabal.store.people.hash_keys import HashKeys
from pabal.store.queue import queue
from pabal.world import new_request_id

MAX_SLOT_TRIES = 3
"""In how many slots a send is tried: a slot whose node was just lost may still be chosen."""


class IdempotencyKey(NamedTuple):
    """The caller's Idempotency-Key, and a digest of the request it was used for."""

    key: str
    digest: bytes


class AcceptedRequest(NamedTuple):
    """The stored request of a send, and whether it is new."""

    request_id: bytes
    is_new: bool
    duplicates: Sequence[int] = ()
    """Indexes of the receivers whose message was recorded as failed because they got the same text recently."""
    opted_out: Sequence[int] = ()
    """Indexes of the receivers whose message was recorded as failed because they want no advertising."""

    @property
    def dropped(self) -> Sequence[int]:
        """Indexes of the receivers whose message was recorded as failed from the start."""
        return [*self.duplicates, *self.opted_out]


class NewRequest(NamedTuple):
    """All rows of one send, ready to be stored."""

    request_id: bytes
    account_id: int
    request: requests.RequestRow
    messages: Sequence[messages.MessageRow]
    images: Sequence[images.ImageRow]
    carrier: str
    lane: int
    scheduled_at: Instant
    ready_at: Instant
    """Due time of its jobs: the scheduled time, or the position from the fair queue."""
    now: Instant
    idempotency_key: IdempotencyKey | None
    idempotency_keys_since: Instant
    jobs: Sequence[queue.NewJob] = ()
    """Jobs of a small request; for a large one the store makes them from its messages."""
    audit_entry: AuditEntry | None = None
    """The audit entry of a send from the console."""
    duplicate_guard: DuplicateGuard | None = None
    ad_receivers: Sequence[AdReceiver] = ()
    """The receivers of an advertisement, in order, who may have opted out."""
    hash_keys: HashKeys | None = None
    """Finds those who have."""
    amounts: Sequence[Hundredths] = ()
    """What is reserved of the account's budget for each message; empty: nothing."""

    @property
    def slot(self) -> int:
        return identifiers.slot_of(self.request_id)

    @property
    def stays_in_slot(self) -> bool:
        """Whether storing it touches nothing but its slot: no audit log, no opt-outs, no messages of others."""
        return not (self.audit_entry or self.ad_receivers or self.duplicate_guard)


async def accept(
    context: Context,
    account_id: int,
    sending: Sending,
    idempotency_key: IdempotencyKey | None = None,
    audit_entry: AuditEntry | None = None,
) -> bytes:
    """Store a send as `accept_request` does, and return the id of its request."""
    return (await accept_request(context, account_id, sending, idempotency_key, audit_entry)).request_id


async def accept_request(
    context: Context,
    account_id: int,
    sending: Sending,
    idempotency_key: IdempotencyKey | None = None,
    audit_entry: AuditEntry | None = None,
    api_key_id: int | None = None,
) -> AcceptedRequest:
    """Store a send, requested with an API key if any, and return its request once it is durable.

    An audit entry is stored with it, with the request as its target.
    Where the node of its slot cannot be reached, it gets another slot; not if it has an Idempotency-Key, which
    decides the slot, nor if it may have been stored: then this raises NodeUnavailable.

    Raises Refused: PRODUCT_NOT_AVAILABLE, SENDER_NUMBER_NOT_REGISTERED, RATE_LIMITED or LIMIT_EXCEEDED for the
    account's limits, or DUPLICATE for a key that was used for a different request, or for texts that were sent to
    the same numbers recently.
    """
    given = (context, account_id, sending, idempotency_key)
    prepare = partial(prepare_request, *given, audit_entry=audit_entry, api_key_id=api_key_id)
    new_request = await prepare()
    charge = await charge_request(context, new_request)
    with charge:
        new_request, accepted = await _store_where_reachable(context, new_request, prepare)
    if accepted.is_new:
        announce_request(context, sending.product, new_request, accepted, charge)
    else:
        charge.refund()
    return accepted


def charge_request(context: Context, request: NewRequest) -> Awaitable[Charge]:
    """Take a request from its account's limits.

    Raises Refused: RATE_LIMITED, LIMIT_EXCEEDED.
    """
    return context.limiter.charge(request.account_id, len(request.messages), sum(request.amounts))


async def _store_where_reachable(
    context: Context, new_request: NewRequest, prepare_another: Callable[[], Awaitable[NewRequest]]
) -> tuple[NewRequest, AcceptedRequest]:
    """Store a request; while its node cannot be reached and stored nothing, the same send in another slot."""
    for _ in range(MAX_SLOT_TRIES - 1):
        try:
            context.nodes.check(new_request.slot)
            return new_request, await context.store.write(store_request, new_request)
        except NodeUnavailable as error:
            if error.is_uncertain or new_request.idempotency_key:
                raise
        again = await prepare_another()
        row = again.request._replace(reserved=new_request.request.reserved)  # what was charged
        new_request = again._replace(request=row, amounts=new_request.amounts)
    return new_request, await context.store.write(store_request, new_request)


async def prepare_request(
    context: Context,
    account_id: int,
    sending: Sending,
    idempotency_key: IdempotencyKey | None = None,
    *,
    audit_entry: AuditEntry | None = None,
    drops_duplicates: bool | None = None,
    api_key_id: int | None = None,
    user_id: int | None = None,
    slot: int | None = None,
    lane: int | None = None,
) -> NewRequest:
    """Return all rows of a send, requested with an API key or by a user; `drops_duplicates` replaces the setting.

    An audit entry gets the request as its target, and says which user. A send that is a part of a larger call gets
    the slot and the lane of the whole.
    Raises Refused: PRODUCT_NOT_AVAILABLE, SENDER_NUMBER_NOT_REGISTERED.
    """
    carrier = await choose_carrier(context, account_id, sending)
    if slot is None:
        slot = choose_slot(context, account_id, idempotency_key.key if idempotency_key else None)
    request_id = new_request_id(context.world, slot)
    now = identifiers.requested_at(request_id)  # read the clock once: "now" is the request's time
    scheduled_at = now if sending.scheduled_at is None else sending.scheduled_at
    rows = messages.build_rows(request_id, account_id, sending.product, sending.receivers)
    few = rows if len(rows) <= SMALL_RECEIVERS else ()
    lane = sending.lane if lane is None else lane
    limits = await context.limiter.limits_of(account_id)
    amounts = amounts_of(context.policy, limits, sending)
    ready_at = _position(context, account_id, LaneKey(carrier, slot, lane), sending, now, scheduled_at)
    deadline = (
        scheduled_at + context.policy.lifetime_ms(sending.product, sending.expire_minutes)
        if ready_at < now - SWEPT_BEFORE_MS
        else None
    )
    if audit_entry:
        audit_entry, user_id = audit_entry._replace(target=request_id.hex()), audit_entry.user_id
    return NewRequest(
        request_id,
        account_id,
        requests.build_row(
            request_id, account_id, sending, scheduled_at, api_key_id, user_id, deadline, encode_amounts(amounts)
        ),
        rows,
        await build_images(context, request_id, account_id, sending) if sending.images else (),
        carrier,
        lane,
        scheduled_at,
        ready_at,
        now,
        idempotency_key,
        now - context.policy.idempotency_ms,
        [queue.NewJob(row[0], slot, carrier, lane, ready_at) for row in few],
        audit_entry,
        duplicate_guard=build_guard(account_id, sending, limits, context.policy, now, is_dropping=drops_duplicates),
        ad_receivers=build_ad_receivers(account_id, sending),
        hash_keys=context.policy.hash_keys,
        amounts=amounts,
    )


def _position(
    context: Context, account_id: int, key: LaneKey, sending: Sending, now: Instant, scheduled_at: Instant
) -> Instant:
    """Return the time of a request's jobs: the scheduled one or later, or if it is due, its fair position."""
    receivers, is_code = len(sending.receivers), sending.is_code
    if scheduled_at > now:
        return context.fair_queue.position_scheduled(account_id, key, receivers, scheduled_at)
    is_shared = context.slots.are_shared
    if is_shared:
        refresh_next_due(context, key)
    return context.fair_queue.position_new(account_id, key, receivers, now, is_shared=is_shared, is_code=is_code)


def announce_request(
    context: Context, product: Product, request: NewRequest, accepted: AcceptedRequest, charge: Charge
) -> None:
    """Count a stored send in the metrics, wake its deliverer if it is due, and give back what it does not need."""
    context.metrics.messages_accepted.add(len(request.messages), product.code)
    if accepted.dropped:
        ended = [Outcome.DUPLICATE] * len(accepted.duplicates) + [Outcome.OPTED_OUT] * len(accepted.opted_out)
        context.count_ended([(product, outcome) for outcome in ended])
        charge.refund_cost(sum(request.amounts[index] for index in accepted.dropped) if request.amounts else 0)
    if request.scheduled_at <= request.now + WAKE_HORIZON_MS:
        context.wake([request.carrier])


def store_requests(tx: Tx, requests_to_store: Sequence[NewRequest]) -> list[AcceptedRequest]:
    """Store requests with their messages and jobs; a repeated request is stored once."""
    stored = _save_idempotency_keys(tx, [each for each in requests_to_store if each.idempotency_key])
    accepted = [
        stored.get(new_request.request_id) or AcceptedRequest(new_request.request_id, True)
        for new_request in requests_to_store
    ]
    new = [new_request for new_request, each in zip(requests_to_store, accepted, strict=True) if each.is_new]
    if tx.is_retry:
        here = requests.existing_ids(tx, [new_request.request_id for new_request in new])
        new = [new_request for new_request in new if new_request.request_id not in here]
    duplicates = {
        new_request.request_id: find_duplicates(tx, new_request.duplicate_guard, new_request.now)
        for new_request in new
        if new_request.duplicate_guard
    }
    requests.add_all(tx, [new_request.request for new_request in new])
    images.add_all(tx, [row for new_request in new for row in new_request.images])
    for new_request in new:
        if new_request.audit_entry:
            audit_log.add(tx, new_request.audit_entry)
    messages.add_all(tx, [row for new_request in new for row in new_request.messages])
    queue.add_all(tx, [row for new_request in new for row in new_request.jobs])
    queue.add_requests(
        tx,
        [
            queue.NewJobs(new_request.request_id, new_request.carrier, new_request.lane, new_request.ready_at)
            for new_request in new
            if not new_request.jobs
        ],
    )
    return _end_undeliverable(tx, new, accepted, duplicates)


def _end_undeliverable(
    tx: Tx,
    new: Sequence[NewRequest],
    accepted: Sequence[AcceptedRequest],
    duplicates: Mapping[bytes, Sequence[int]],
) -> list[AcceptedRequest]:
    """Record duplicates, and advertisements to receivers who want none, as failed; return which each has."""
    unwilling = _find_unwilling(tx, [each for each in new if each.ad_receivers])
    if not unwilling and not any(duplicates.values()):
        return list(accepted)
    found: dict[bytes, AcceptedRequest] = {}
    for new_request in new:
        request_id = new_request.request_id
        opted_out = [index for index, each in enumerate(new_request.ad_receivers) if each in unwilling]
        outcomes = dict.fromkeys(duplicates.get(request_id, ()), Outcome.DUPLICATE)
        outcomes |= dict.fromkeys(opted_out, Outcome.OPTED_OUT)
        ended = [(new_request.messages[index][0], outcome) for index, outcome in sorted(outcomes.items())]
        queue.remove(tx, [one for one, _ in ended])
        messages.finish(tx, ended, new_request.now)
        found[request_id] = AcceptedRequest(
            request_id, True, [index for index in outcomes if outcomes[index] is Outcome.DUPLICATE], opted_out
        )
    return [found.get(each.request_id, each) if each.is_new else each for each in accepted]


def _find_unwilling(tx: Tx, ads: Sequence[NewRequest]) -> set[AdReceiver]:
    """Return the receivers of advertisements who have opted out; one look-up for all."""
    keys = next((each.hash_keys for each in ads if each.hash_keys), None)
    return opt_outs.find(tx, keys, {one for each in ads for one in each.ad_receivers}) if keys else set()


@transaction(
    retryable=True,
    priority=Priority.PROMPT,
    batched_by=store_requests,
    slot_of=lambda one: one.slot,
    stays_in_slot=lambda one: one.stays_in_slot,
)
def store_request(tx: Tx, request: NewRequest) -> AcceptedRequest:
    """Store one request; the store batches concurrent calls through `store_requests`."""
    return store_requests(tx, [request])[0]


def _save_idempotency_keys(tx: Tx, requests_with_key: Sequence[NewRequest]) -> dict[bytes, AcceptedRequest]:
    """Save the keys of new requests; return the earlier request of each repeated one, by its id."""
    ids = {
        each.request_id: IdempotencyKeyId(each.slot, each.account_id, each.idempotency_key.key)
        for each in requests_with_key
        if each.idempotency_key
    }
    known = idempotency_keys.find(tx, set(ids.values()))
    new: dict[IdempotencyKeyId, KeyedRequest] = {}
    found: dict[bytes, AcceptedRequest] = {}
    for request in requests_with_key:
        assert request.idempotency_key is not None
        key = ids[request.request_id]
        earlier = new.get(key) or known.get(key)
        is_retry = earlier is not None and earlier.request_id == request.request_id  # after a lost commit
        if earlier is None or is_retry or earlier.created_at < request.idempotency_keys_since:
            new[key] = KeyedRequest(request.idempotency_key.digest, request.request_id, request.now)
        else:
            found[request.request_id] = AcceptedRequest(_check_same(earlier, request.idempotency_key), False)
    idempotency_keys.save(tx, new)
    return found


def choose_slot(context: Context, account_id: int, key: str | None) -> int:
    """Return the slot of its Idempotency-Key, or else a random one whose node can be reached, if any can."""
    numbers = context.slots.numbers
    if len(numbers) == 1:
        return numbers[0]
    if key is not None:
        return numbers[identifiers.slot_of_key(account_id, key, len(numbers))]
    if context.nodes.lost:
        numbers = tuple(context.nodes.reachable(numbers)) or numbers
    return context.slots.choose(context.world, numbers, stays=context.nodes.is_distributed)


async def find_accepted(context: Context, account_id: int, idempotency_key: IdempotencyKey) -> bytes | None:
    """Return the earlier request with this key, if any.

    Raises Refused(DUPLICATE) where the key was used for a different request.
    """
    since = context.world.now() - context.policy.idempotency_ms
    slot = choose_slot(context, account_id, idempotency_key.key)
    context.nodes.check(slot)
    key = IdempotencyKeyId(slot, account_id, idempotency_key.key)
    earlier = (await context.store.read(idempotency_keys.find, [key])).get(key)
    return find_same(earlier, idempotency_key, since)


def find_same(earlier: KeyedRequest | None, idempotency_key: IdempotencyKey, since: Instant) -> bytes | None:
    """Return the request of a key's earlier use, None where that is older than `since` or there is none.

    Raises Refused(DUPLICATE) where the key was used for a different request.
    """
    return _check_same(earlier, idempotency_key) if earlier and earlier.created_at >= since else None


def _check_same(earlier: KeyedRequest, idempotency_key: IdempotencyKey) -> bytes:
    if earlier.digest != idempotency_key.digest:
        raise Refused(
            Code.DUPLICATE,
            "Idempotency-Key",
            Text(
                "다른 요청에 이미 사용한 키입니다. 새 키를 쓰세요.",
                "The key was used for a different request; use a new key.",
            ),
        )
    return earlier.request_id
