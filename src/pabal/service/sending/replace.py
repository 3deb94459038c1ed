"""Replaces a scheduled request: in one transaction the old one is cancelled and the new one stored."""

from collections.abc import Sequence
from typing import NamedTuple

from pabal.domain.base import identifiers
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.sends.message import Status
from pabal.domain.sends.sending import Sending, fill_text
from pabal.service.context import Context
from pabal.service.policy import Policy
from pabal.service.sending import accept, compose
from pabal.service.sending.accept import AcceptedRequest, IdempotencyKey, NewRequest
from pabal.service.sending.waiting import cancel
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Tx, transaction
from pabal.store.messages import campaign_requests, messages, recent_texts, requests
from pabal.store.messages.requests import Request

NOT_WAITING = Text(
    "이미 발송이 시작되었거나 취소된 예약이어서 바꾸지 않았습니다. 원래 예약의 현황을 확인하세요.",
    "It is being sent already, or was cancelled, so nothing was changed. See the progress of the request.",
)


class Replacement(NamedTuple):
    """A scheduled request, and the one that takes its place."""

    old_id: bytes
    new_request: NewRequest
    texts: Sequence[tuple[str, str]]
    """The number and the text of each new receiver, in order."""


async def replace_request(
    context: Context,
    account_id: int,
    old_id: bytes,
    sending: Sending,
    idempotency_key: IdempotencyKey,
    audit_entry: AuditEntry,
) -> bytes:
    """Store a send in place of a request that waits for its time, and return its id.

    Either both happen or nothing, so that neither both nor none of them go out.
    Raises Refused: REQUEST_NOT_FOUND, INVALID_STATE where it does not wait any more, else as `accept`.
    """
    old = (await context.store.read(requests.get, [old_id])).get(old_id)
    if old is None or old.account_id != account_id:
        raise Refused(Code.REQUEST_NOT_FOUND, "requestId")
    if await context.store.read(campaign_requests.campaigns_by_request, [old_id]):
        raise Refused(Code.INVALID_STATE, "", NOT_WAITING)
    new = await accept.prepare_request(context, account_id, sending, idempotency_key, audit_entry=audit_entry)
    charge = await accept.charge_request(context, new)
    with charge:
        stored = await context.store.write(_replace, Replacement(old_id, new, _texts_of(sending)), context.policy)
    if stored.is_new:
        accept.announce_request(context, sending.product, new, stored, charge)
        context.count_cancelled(old.total)
    else:
        charge.refund()
    return stored.request_id


@transaction(retryable=True)
def _replace(tx: Tx, replacement: Replacement, policy: Policy) -> AcceptedRequest:
    old_id, new, texts = replacement
    if tx.is_retry and requests.existing_ids(tx, [new.request_id]):
        return AcceptedRequest(new.request_id, True)
    old = requests.get(tx, [old_id]).get(old_id)
    if old is not None:
        _release_texts(tx, old, new, texts)
    (stored,) = accept.store_requests(tx, [new])
    if not stored.is_new:
        return stored  # this form was submitted before
    done = cancel(tx, policy, new.account_id, old_id, None, new.now)
    left = messages.count_by_status(tx, new.account_id, *identifiers.message_id_range(old_id))
    has_begun = old is None or old.scheduled_at <= new.now or left.keys() & {Status.SENDING, Status.COMPLETED}
    if has_begun or not done.canceled:
        raise Refused(Code.INVALID_STATE, "", NOT_WAITING)
    return stored


def _texts_of(sending: Sending) -> list[tuple[str, str]]:
    return [
        (
            each.phone,
            fill_text(sending.content if each.content is None else each.content, sending.variables, each.values),
        )
        for each in sending.receivers
    ]


def _release_texts(tx: Tx, old: Request, new: NewRequest, texts: Sequence[tuple[str, str]]) -> None:
    """Have the duplicate guard forget the texts that wait in the old request: the new one sends them instead.

    The guard tells sends of different times apart, so this concerns requests whose time stays the same.
    """
    if new.duplicate_guard is None or old.scheduled_at != new.scheduled_at:
        return
    waiting = messages.get(tx, messages.find_waiting(tx, old.account_id, old.id, None)).values()
    released = {(each.receiver, compose.content_of(each, old)) for each in waiting}
    digests = zip(new.duplicate_guard.digests, texts, strict=True)
    recent_texts.delete(tx, [digest for digest, text in digests if text in released])
