"""Adds the text fallback of a failed Alimtalk or friend talk."""

import logging
from collections.abc import Sequence
from typing import NamedTuple

from pabal.domain.base import dates, identifiers
from pabal.domain.base.dates import Instant
from pabal.domain.content import advertising
from pabal.domain.people.opt_out import EVERY_SENDER, AdReceiver
from pabal.domain.sends import sending
from pabal.domain.sends.message import Outcome, Product
from pabal.service.errors import describe_error
from pabal.service.policy import Policy
from pabal.service.sending import compose
from pabal.store.accounts import accounts
from pabal.store.engine.base import Tx
from pabal.store.kakao import profiles
from pabal.store.messages import messages, requests
from pabal.store.messages.messages import Message
from pabal.store.messages.requests import Request
from pabal.store.people import opt_outs
from pabal.store.queue import deadlines, queue

log = logging.getLogger("pabal.deliver")


class FinishResult(NamedTuple):
    """How messages ended, and which carriers have new messages to send."""

    ended: list[tuple[Product, Outcome]]
    carriers_to_wake: set[str]

    def joined(self, other: "FinishResult") -> "FinishResult":
        """Return both results as one."""
        return FinishResult(self.ended + other.ended, self.carriers_to_wake | other.carriers_to_wake)


class _FallbackText(NamedTuple):
    """A text to send in place of a failed message."""

    origin: Message
    request: Request
    content: str | None
    """None: it could not be composed."""
    is_ad: bool
    receiver: AdReceiver


def add_fallbacks(tx: Tx, failed: Sequence[bytes], policy: Policy, now: Instant) -> tuple[FinishResult, set[bytes]]:
    """Add a text message for each failed message whose request asks for it.

    Returns also the messages whose fallback goes on.
    """
    if not failed:
        return FinishResult([], set()), set()
    shared = requests.get(tx, {identifiers.request_id_of(one) for one in failed})
    deleted = profiles.find_deleted(
        tx, {each.profile_id for each in shared.values() if each.profile_id is not None}
    )
    wanting = [
        one
        for one in failed
        if (request := shared.get(identifiers.request_id_of(one))) is not None
        and request.fallback_sender is not None
        and now <= request.scheduled_at + policy.fallback_within_ms
        and now < policy.deadline_of(request)
        and request.profile_id not in deleted
    ]
    origins = messages.get(tx, wanting)
    numbers = accounts.get_opt_out_numbers(tx, {each.account_id for each in shared.values() if each.is_ad})
    texts: list[_FallbackText] = []
    for one, origin in origins.items():
        if origin.receiver:  # nobody to send to where it was erased
            request = shared[identifiers.request_id_of(one)]
            number = request.opt_out_number or numbers.get(request.account_id) or policy.opt_out_number
            texts.append(_compose_text(origin, request, policy, number))
    unwilling = opt_outs.find(tx, policy.hash_keys, {each.receiver for each in texts if each.is_ad})
    result = FinishResult([], set())
    replaced = {
        each.origin.id
        for each in texts
        if _add_fallback(tx, each, each.is_ad and each.receiver in unwilling, policy, now, result)
    }
    return result, replaced


def _add_fallback(
    tx: Tx,
    text: _FallbackText,
    is_opted_out: bool,
    policy: Policy,
    now: Instant,
    result: FinishResult,
) -> bool:
    """Add the fallback of one message; return whether it is to be sent."""
    origin, request, content = text.origin, text.request, text.content
    is_complete = content is not None and (not request.is_ad or advertising.has_marks(content))
    fitting = sending.choose_text_product(content) if content is not None and is_complete else None
    product = fitting[0] if fitting else Product.LMS
    carrier = policy.routes.first(product)
    ended = None
    if is_opted_out:
        ended = Outcome.OPTED_OUT
    elif fitting is None:
        ended = Outcome.NOT_SENDABLE_AS_TEXT
    elif carrier is None:
        ended = Outcome.UNDELIVERABLE
    message_id = identifiers.make_message_id(request.id, identifiers.number_of(origin.id) + request.total)
    if not messages.add_fallback(tx, origin, message_id, product, content or "", ended, now):
        return False
    if ended:
        result.ended.append((product, ended))
        return False
    assert carrier is not None
    is_too_late = text.is_ad and dates.is_night(now, policy.zone)
    ready_at = dates.next_night_end(now, policy.zone) if is_too_late else now
    if is_too_late:
        lifetime_ms = policy.lifetime_ms(request.product, request.expire_minutes)
        deadlines.extend(tx, request.id, request.expires_at, ready_at + lifetime_ms)
    lane = queue.Lane.SMALL if request.total <= sending.SMALL_RECEIVERS else queue.Lane.CAMPAIGN
    queue.add(tx, message_id, carrier, lane, ready_at)
    result.carriers_to_wake.add(carrier)
    return True


def _compose_text(origin: Message, request: Request, policy: Policy, opt_out_number: str) -> _FallbackText:
    """Return the text of a fallback, an advertisement with its marks."""
    content = _compose_content(origin, request, policy)
    is_ad = request.is_ad or advertising.begins_like_ad(content or "")
    if request.is_ad and content is not None:
        content = compose.add_ad_marks(content, opt_out_number)
    receiver = AdReceiver(origin.account_id, origin.receiver, request.fallback_sender or EVERY_SENDER)
    return _FallbackText(origin, request, content, is_ad, receiver)


def _compose_content(origin: Message, request: Request, policy: Policy) -> str | None:
    """Return the text of a fallback as its request has it.

    None where it cannot be composed: that must not undo the end of its batch.
    """
    try:
        compose.check_complete(origin, request)
        return _fallback_text(origin, request, policy)
    except Exception as error:
        log.error(
            "fallback could not be composed; it is recorded as failed",
            extra={"message_id": origin.id.hex(), **describe_error(error)},
        )
        return None


def _fallback_text(origin: Message, request: Request, policy: Policy) -> str:
    if request.fallback_content is not None:
        own = sending.fill_text(request.fallback_content, compose.variables_of(origin, request), origin.values)
        return compose.fallback_content(own, "", (), policy)
    content = compose.content_of(origin, request)
    return compose.fallback_content(None, content, compose.buttons_of(origin, request), policy)
