"""Accepts a send: keeps the request and the promise to deliver each of its messages, or nothing at all."""

from collections.abc import Sequence
from typing import NamedTuple

from pabal.domain import identifiers
from pabal.domain.codes import Code, Refused, Words
from pabal.domain.dates import MINUTE, Instant
from pabal.domain.image import Image
from pabal.domain.message import Product
from pabal.domain.profile import Profile
from pabal.domain.sending import SMALL_RECEIVERS, Sending
from pabal.domain.template import Design
from pabal.service.context import Context
from pabal.store import accounts, audit_log, idempotency_keys, messages, profiles, queue, requests, templates
from pabal.store.audit_log import Deed
from pabal.store.engine.base import Tx, Value, done_together_by, knows_itself
from pabal.store.idempotency_keys import Answer
from pabal.world import new_request_id

RING_WITHIN = 1 * MINUTE
"""Deliverers look at the queue more often than this by themselves: a send for later need not wake them."""


class Repeatable(NamedTuple):
    """What makes a request safe to repeat: the caller's key, and a digest of what it stands on."""

    key: str
    digest: bytes


class Kept(NamedTuple):
    """The request that answers a send, and whether it is new."""

    request_id: bytes
    is_new: bool


class Promise(NamedTuple):
    """All that is kept of one send, ready to be written."""

    request_id: bytes
    account_id: int
    request: Sequence[Value]
    messages: Sequence[Sequence[Value]]
    image: Image | None
    carrier: str
    lane: int
    scheduled_at: Instant
    now: Instant
    repeatable: Repeatable | None
    remembered_since: Instant
    jobs: Sequence[Sequence[Value]] = ()
    """Those of a few messages; those of many are made of what is kept, in the store."""
    deed: Deed | None = None
    """Who sends it, where a person does."""


async def accept(
    context: Context,
    account_id: int,
    sending: Sending,
    repeatable: Repeatable | None = None,
    deed: Deed | None = None,
) -> bytes:
    """Return the id of the kept request once it is durable; with a deed, which names it, that is kept too.

    Raises Refused: PRODUCT_NOT_AVAILABLE, SENDER_NUMBER_NOT_REGISTERED, or DUPLICATE for a key that stood
    on another request.
    """
    promise = await promise_of(context, account_id, sending, repeatable)
    if deed:
        promise = promise._replace(deed=deed._replace(target=promise.request_id.hex()))
    kept = await context.store.write(keep, promise)
    if kept.is_new:
        announce(context, sending.product, promise)
    return kept.request_id


async def promise_of(
    context: Context, account_id: int, sending: Sending, repeatable: Repeatable | None = None
) -> Promise:
    """Return all that is to be kept of a send.

    Raises Refused: PRODUCT_NOT_AVAILABLE, SENDER_NUMBER_NOT_REGISTERED.
    """
    carrier = await way_out(context, account_id, sending)
    request_id = new_request_id(context.world, _slot(context, account_id, repeatable))
    now = identifiers.requested_at(request_id)  # one look at the clock: sent now is sent when requested
    scheduled_at = now if sending.scheduled_at is None else sending.scheduled_at
    rows = messages.rows_of(request_id, account_id, sending.product, sending.receivers)
    few = rows if len(rows) <= SMALL_RECEIVERS else ()
    return Promise(
        request_id,
        account_id,
        requests.row_of(request_id, account_id, sending, scheduled_at),
        rows,
        sending.image,
        carrier,
        sending.lane,
        scheduled_at,
        now,
        repeatable,
        now - context.policy.idempotency,
        [(*row[:2], carrier, sending.lane, scheduled_at) for row in few],
    )


def announce(context: Context, product: Product, promise: Promise) -> None:
    """Count a send that is kept, and wake those who deliver it if it is for now."""
    context.metrics.accepted.add(len(promise.messages), product.word)
    if promise.scheduled_at <= promise.now + RING_WITHIN:
        context.wake([promise.carrier])


async def way_out(context: Context, account_id: int, sending: Sending) -> str:
    """Return the carrier that a send would go to.

    Raises Refused: PRODUCT_NOT_AVAILABLE, SENDER_NUMBER_NOT_REGISTERED.
    """
    is_for_later = sending.scheduled_at is not None and sending.scheduled_at > context.world.now() + RING_WITHIN
    carrier = context.carrier_for(sending.product, is_for_later=is_for_later)
    if context.policy.checks_sender_numbers:
        await _check_numbers(context, account_id, sending)
    return carrier


def keep_all(tx: Tx, promises: Sequence[Promise]) -> list[Kept]:
    """Keep requests, their messages and their jobs, all or nothing; a repeated request is kept once."""
    kept = [_kept_before(tx, promise) or Kept(promise.request_id, True) for promise in promises]
    new = [promise for promise, each in zip(promises, kept, strict=True) if each.is_new]
    if tx.is_again:
        here = requests.existing(tx, [promise.request_id for promise in new])
        new = [promise for promise in new if promise.request_id not in here]
    requests.add_all(tx, [promise.request for promise in new])
    for promise in new:
        if promise.image:
            requests.add_image(tx, promise.request_id, promise.image)
        if promise.deed:
            audit_log.note(tx, promise.deed)
    messages.add_all(tx, [row for promise in new for row in promise.messages])
    queue.add_all(tx, [row for promise in new for row in promise.jobs])
    queue.add_requests(
        tx,
        [
            (promise.request_id, promise.carrier, promise.lane, promise.scheduled_at)
            for promise in new
            if not promise.jobs
        ],
    )
    return kept


@knows_itself
@done_together_by(keep_all)
def keep(tx: Tx, promise: Promise) -> Kept:
    """Keep one request; many at once are kept by keep_all."""
    return keep_all(tx, [promise])[0]


def _kept_before(tx: Tx, promise: Promise) -> Kept | None:
    """Return the request that a repeated one was kept as; of a new one with a key, remember the key."""
    if promise.repeatable is None:
        return None
    key, digest = promise.repeatable
    slot = identifiers.slot_of(promise.request_id)
    earlier = idempotency_keys.find(tx, slot, promise.account_id, key, promise.remembered_since)
    if earlier and earlier.request_id != promise.request_id:  # else it was kept by a commit that nobody saw end
        return Kept(_same(earlier, promise.repeatable), False)
    idempotency_keys.keep(tx, slot, promise.account_id, key, Answer(digest, promise.request_id), promise.now)
    return None


async def answered_before(context: Context, account_id: int, repeatable: Repeatable) -> bytes | None:
    """Return the request that this key was answered with before.

    Raises Refused(DUPLICATE) where the key stood on another request.
    """
    since = context.world.now() - context.policy.idempotency
    slot = _slot(context, account_id, repeatable)
    earlier = await context.store.read(idempotency_keys.find, slot, account_id, repeatable.key, since)
    return _same(earlier, repeatable) if earlier else None


async def usable_profile(context: Context, account_id: int, sender_key: str) -> Profile:
    """Return the profile to send under.

    Raises Refused: SENDER_NOT_FOUND, SENDER_NOT_APPROVED.
    """
    profile = await context.store.read(profiles.by_sender_key, account_id, sender_key)
    if profile is None:
        raise Refused(Code.SENDER_NOT_FOUND, "senderKey")
    if not profile.is_usable:
        raise Refused(Code.SENDER_NOT_APPROVED, "senderKey", profile.bar.label if profile.bar else None)
    return profile


async def usable_template(context: Context, profile: Profile, code: str) -> Design:
    """Return the approved text of a profile's template.

    Raises Refused: TEMPLATE_NOT_FOUND, TEMPLATE_NOT_APPROVED.
    """
    template = await context.store.read(templates.get, profile.id, code)
    if template is None:
        raise Refused(Code.TEMPLATE_NOT_FOUND, "templateCode")
    if template.in_use is None or not template.is_enabled or template.bar is not None:
        raise Refused(Code.TEMPLATE_NOT_APPROVED, "templateCode", template.bar.label if template.bar else None)
    return template.in_use


def _slot(context: Context, account_id: int, repeatable: Repeatable | None) -> int:
    """Return the slot of a new request: its key's, or any."""
    total = context.slots.total
    if total == 1:
        return 0
    if repeatable is None:
        return context.world.bits(identifiers.SLOT_BITS) % total
    return identifiers.slot_of_key(account_id, repeatable.key, total)


async def _check_numbers(context: Context, account_id: int, sending: Sending) -> None:
    used = [("sender", sending.sender)] if sending.sender else []
    if sending.fallback:
        used.append(("resendPhoneNumber", sending.fallback.sender))
    for field, number in used:
        if not await context.store.read(accounts.has_number, account_id, number):
            raise Refused(Code.SENDER_NUMBER_NOT_REGISTERED, field)


def _same(earlier: Answer, repeatable: Repeatable) -> bytes:
    if earlier.digest != repeatable.digest:
        raise Refused(
            Code.DUPLICATE,
            "Idempotency-Key",
            Words("다른 요청에 쓰인 키입니다.", "The key was used for another request."),
        )
    return earlier.request_id
