"""Sends texts, answers what became of each recipient, and cancels scheduled ones."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pabal.checks.body.forms import Form
from pabal.checks.sends.friendtalk import apply_ad_hours
from pabal.checks.sends.text_messages import check_text_message
from pabal.compat.nhncloud.accept import accept_once
from pabal.compat.nhncloud.call import KIND, NhnCall, format_request_id, parse_request_id
from pabal.compat.nhncloud.sms.bodies import CancelBody, Reservation, SendBody, SmsRecipient
from pabal.compat.nhncloud.sms.codes import MESSAGES, code_of, refuse
from pabal.compat.nhncloud.sms.files import get_files
from pabal.compat.nhncloud.sms.kinds import Kind
from pabal.compat.nhncloud.sms.translation import build_body, check_call, find_refusals, read_date
from pabal.compat.own_bodies import receiver_of
from pabal.domain.base.codes import Code, Problem, Refused
from pabal.domain.base.identifiers import MAX_MESSAGE_NUMBER, make_message_id
from pabal.domain.content.image import Image
from pabal.domain.sends.message import Product
from pabal.domain.sends.sending import Receiver, Sending
from pabal.service.access.accounts.accounts import get_codes
from pabal.service.sending.accept_call import CallSize
from pabal.service.sending.cancel import cancel_request
from pabal.world import new_request_id

COMPLETED, FAILED = "2", "3"
"""The statusCode of a call: at least one recipient was accepted, or none."""


class _Item(NamedTuple):
    """A recipient, and its place in the call."""

    place: int
    recipient: SmsRecipient


class _Call(NamedTuple):
    """What is the same for every recipient of a call."""

    call: NhnCall
    kind: Kind
    body: SendBody
    send_date: str | None
    images: Sequence[Image]


async def send(call: NhnCall, kind: Kind) -> dict[str, Any]:
    """Send a text of a kind; with attachments an LMS becomes an MMS."""
    body = call.decode(SendBody)
    recipients = check_call(body, kind)
    await _check_origin_code(call, body)
    images = await get_files(call, body.attachFileIdList or ())
    shared = _Call(call, kind, body, read_date(call, body), images)
    refusals = find_refusals(recipients, kind)
    items = [_Item(place, each) for place, each in enumerate(recipients)]
    accepted, sending = _check(shared, [each for each in items if each.place not in refusals], refusals)
    request_id = new_request_id(call.context.world, 0)  # that of a call without any message leads nowhere
    if sending:
        (request_id,) = await accept_once(call, [sending], _size_of(body, len(items), len(refusals)))
    call.note_refusals(refusals.values())
    return {"body": {"data": _describe(body, request_id, items, accepted, refusals)}}


async def _check_origin_code(call: NhnCall, body: SendBody) -> None:
    """Raise NhnRefused for another origin code than that of the account, which every text gets."""
    if body.originCode:
        codes = await get_codes(call.context, call.account_id)
        if codes.origin_code != body.originCode:
            raise refuse(4, "originCode: 계정에 등록한 식별 코드와 다릅니다.")


def _check(shared: _Call, items: list[_Item], refusals: dict[int, int]) -> tuple[list[_Item], Sending | None]:
    """Return the recipients that pass the checks, and their send; refuse the others.

    Raises Refused for what concerns the whole call.
    """
    while items:
        try:
            return items, _check_all(shared, items)
        except Refused as refused:
            bad = _bad_recipients(refused.problems)
            refusals.update({items[index].place: code for index, code in bad.items()})
            items = [item for index, item in enumerate(items) if index not in bad]
    return [], None


def _check_all(shared: _Call, items: Sequence[_Item]) -> Sending:
    call, kind, body, send_date, images = shared
    policy, key = call.context.policy, call.key
    given = build_body(body, kind, [each.recipient for each in items], send_date, images)
    form = Form[Any](given, [], max_receiver_problems=len(items) + 1)
    product = Product.SMS if not kind.is_mms else Product.MMS if images else Product.LMS
    sending = check_text_message(product, form, policy, call.now, key.opt_out_number or policy.opt_out_number)
    if sending.is_ad:
        sending = apply_ad_hours(sending, policy, call.now, form)
    receivers = [
        Receiver(number, values, content, item.recipient.recipientGroupingKey or None)
        for item, (number, values, content, _) in zip(items, sending.receivers, strict=True)
    ]
    return sending._replace(receivers=receivers)


def _bad_recipients(problems: Sequence[Problem]) -> dict[int, int]:
    """Return the codes of the recipients that problems name.

    Raises Refused where a problem concerns all.
    """
    found: dict[int, int] = {}
    for problem in problems:
        index = receiver_of(problem)
        if index is None:
            raise Refused.from_problems([problem])
        if problem.code is not Code.INVALID_PHONE_NUMBER and problem.code is not Code.MISSING_PARAMETER:
            raise Refused.from_problems([problem._replace(field="body")])  # the text is the same for all
        found.setdefault(index, code_of(problem)[0])
    return found


def _size_of(body: SendBody, total: int, refused: int) -> CallSize:
    return CallSize(
        KIND,
        total,
        refused,
        allows_duplicates=True,
        sender_name=body.senderGroupingKey or None,
        caller=body.userId or None,
        has_names=True,
    )


def _describe(
    body: SendBody,
    request_id: bytes,
    items: Sequence[_Item],
    accepted: Sequence[_Item],
    refusals: dict[int, int],
) -> dict[str, Any]:
    """Return the answer: accepted recipients have the numbers of their messages, refused ones those behind them."""
    numbers = {item.place: number for number, item in enumerate(accepted, 1)}
    numbers |= {place: number for number, place in enumerate(sorted(refusals), len(accepted) + 1)}
    results = [
        {
            "recipientNo": recipient.number,
            "resultCode": (code := refusals.get(place, 0)),
            "resultMessage": MESSAGES[code],
            "recipientSeq": numbers[place],
            "recipientGroupingKey": recipient.recipientGroupingKey,
        }
        for place, recipient in items
    ]
    return {
        "requestId": format_request_id(request_id),
        "statusCode": COMPLETED if accepted else FAILED,
        "senderGroupingKey": body.senderGroupingKey,
        "sendResultList": results,
    }


MAX_RESERVATIONS = 1000
"""Messages of one call."""


async def cancel(call: NhnCall) -> dict[str, Any]:
    """Cancel the messages that still wait; the answer counts them."""
    given = call.decode(CancelBody).reservationList or []
    if not 1 <= len(given) <= MAX_RESERVATIONS:
        raise refuse(4, f"reservationList: 1 ~ {MAX_RESERVATIONS:,}")
    cancelled = 0
    for each in dict.fromkeys((one.requestId, one.recipientSeq) for one in given):
        cancelled += await _cancel(call, Reservation(*each))
    return {"body": {"data": {"requestedCount": len(given), "canceledCount": cancelled}}}


async def _cancel(call: NhnCall, given: Reservation) -> int:
    """Cancel a message; return how many were, which is none where the account has no such message."""
    request_id = parse_request_id(given.requestId)
    if request_id is None or not 1 <= given.recipientSeq <= MAX_MESSAGE_NUMBER:
        return 0
    message_id = make_message_id(request_id, given.recipientSeq)
    try:
        return (await cancel_request(call.context, call.account_id, request_id, message_id)).canceled
    except Refused as refused:
        if refused.code is not Code.REQUEST_NOT_FOUND:
            raise
        return 0
