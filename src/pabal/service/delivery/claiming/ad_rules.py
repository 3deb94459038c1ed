"""Holds back advertisements when they are claimed: at night, and from receivers who have opted out."""

from collections.abc import Container, Mapping, Sequence

from pabal.domain.base import dates, identifiers
from pabal.domain.base.dates import Instant
from pabal.domain.content import advertising
from pabal.domain.people.opt_out import EVERY_SENDER, AdReceiver
from pabal.domain.sends.message import Outcome
from pabal.service.delivery.outcome.finish import FinishResult, finish
from pabal.service.policy import Policy
from pabal.store.engine.base import Tx
from pabal.store.messages.messages import Message
from pabal.store.messages.requests import Request
from pabal.store.people import opt_outs
from pabal.store.queue import deadlines, queue


def hold_back_ads(
    tx: Tx,
    chosen: Sequence[bytes],
    in_doubt: Container[bytes],
    stored: Mapping[bytes, Message],
    shared: Mapping[bytes, Request],
    policy: Policy,
    now: Instant,
) -> tuple[FinishResult, set[bytes]]:
    """End advertisements to receivers who have opted out, and postpone others to the morning.

    Returns also the ids of all that are not to be submitted now. One in doubt is not ended here: a carrier may
    have it already.
    """
    ads = [one for one in chosen if is_ad(stored[one], shared[identifiers.request_id_of(one)])]
    if not ads:
        return FinishResult([], set()), set()
    receivers = {
        one: _ad_receiver(stored[one], shared[identifiers.request_id_of(one)]) for one in ads if one not in in_doubt
    }
    unwilling = opt_outs.find(tx, policy.hash_keys, set(receivers.values()))
    ended = [one for one, receiver in receivers.items() if receiver in unwilling]
    finished = finish(tx, [(one, Outcome.OPTED_OUT) for one in ended], policy, now)
    if dates.is_night(now, policy.zone):
        _postpone(tx, [one for one in ads if one not in ended], shared, policy, now)
        return finished, set(ads)
    return finished, set(ended)


def is_ad(message: Message, request: Request) -> bool:
    """Return whether a message is advertising; a fallback may be one that its request is not."""
    return request.is_ad or (message.product.is_text and advertising.begins_like_ad(message.content or ""))


def _ad_receiver(message: Message, request: Request) -> AdReceiver:
    """Return who gets a message from which number; a fallback has a sender number of its own."""
    if not message.product.is_text:
        return AdReceiver(message.account_id, message.receiver)
    is_fallback = identifiers.number_of(message.id) > request.total
    sender = request.fallback_sender if is_fallback else request.sender
    return AdReceiver(message.account_id, message.receiver, sender or EVERY_SENDER)


def _postpone(tx: Tx, ads: Sequence[bytes], shared: Mapping[bytes, Request], policy: Policy, now: Instant) -> None:
    """Postpone advertisements to the morning, from which their lifetime counts."""
    morning = dates.next_night_end(now, policy.zone)
    queue.postpone(tx, ads, morning)
    for one in dict.fromkeys(identifiers.request_id_of(each) for each in ads):
        lifetime_ms = policy.lifetime_ms(shared[one].product, shared[one].expire_minutes)
        deadlines.extend(tx, one, shared[one].expires_at, morning + lifetime_ms)
