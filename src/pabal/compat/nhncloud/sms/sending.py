"""Sends texts with uploaded pictures, answers what became of each recipient, and cancels scheduled ones."""

import base64
import hashlib
from collections.abc import Sequence
from typing import Any, NamedTuple

from pabal.checks.body.forms import Form
from pabal.checks.sends.friendtalk import apply_ad_hours
from pabal.checks.sends.text_messages import check_text_message
from pabal.compat.nhncloud.call import KIND, NhnCall, accept_once, format_request_id, format_time, parse_request_id
from pabal.compat.nhncloud.sms.translation import (
    CancelBody,
    Reservation,
    SendBody,
    SmsRecipient,
    UploadBody,
    build_body,
    check_call,
    find_refusals,
    read_date,
)
from pabal.compat.nhncloud.sms.words import MESSAGES, Kind, code_of, refuse
from pabal.compat.own_values import receiver_of
from pabal.domain.base.codes import Code, Problem, Refused
from pabal.domain.base.identifiers import MAX_MESSAGE_NUMBER, make_message_id
from pabal.domain.content.image import MAX_IMAGES, Image, parse_image
from pabal.domain.sends.message import Product
from pabal.domain.sends.sending import Receiver, Sending
from pabal.service.access.accounts.accounts import get_codes
from pabal.service.sending.accept_call import CallSize
from pabal.service.sending.waiting import cancel_request
from pabal.store.messages import compat_files
from pabal.store.messages.compat_files import NUMBER_BYTES
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


MAX_FILE_NAME_CHARACTERS, MAX_USER_CHARACTERS = 45, 100
MAX_FILES = 10_000
"""Pictures of an account that are kept."""
_LARGEST_NUMBER = 2**31 - 1
"""Programs keep these numbers in 32 bits."""
_BYTE = range(-128, 256)


async def upload(call: NhnCall) -> dict[str, Any]:
    """Store a picture and return its number; the same picture has the same number."""
    body = call.decode(UploadBody)
    name = body.fileName or ""
    if not 0 < len(name) <= MAX_FILE_NAME_CHARACTERS:
        raise refuse(-2002)
    if not name.lower().endswith((".jpg", ".jpeg")):
        raise refuse(-2003)
    if not 0 < len(body.createUser or "") <= MAX_USER_CHARACTERS:
        raise refuse(4, f"createUser: 1 ~ {MAX_USER_CHARACTERS}")
    try:
        limits = call.context.policy.image_limits_of(Product.MMS)
        image = parse_image("image/jpeg", name, _read_file(body.fileBody), limits)
    except Refused as refused:
        raise refuse(-2005 if body.fileBody else -2009, refused.problems[0].message("ko")) from None
    number = await _store(call, image)
    day = (format_time(call.now) or "")[: len("yyyy-MM-dd")]
    return {"body": {"data": {"fileId": number, "fileName": name, "filePath": f"0/pabal-{day}/{number}"}}}


def _read_file(given: str | list[int] | None) -> str:
    """Return a file in Base64.

    Raises NhnRefused.
    """
    if isinstance(given, str):
        return given
    if not given or not all(each in _BYTE for each in given):
        raise refuse(-2009)
    return base64.b64encode(bytes(each & 0xFF for each in given)).decode()


async def _store(call: NhnCall, image: Image) -> int:
    """Store a picture under a number that is made of its digest, or the next one that is free.

    Raises NhnRefused where the account has very many.
    """
    store = call.context.store
    if await store.read(compat_files.count, call.account_id) >= MAX_FILES:
        raise refuse(-2009, f"이미지는 최대 {MAX_FILES:,}개까지 보관합니다.")
    digest = hashlib.sha256(image.body).digest()
    number = int.from_bytes(digest[:NUMBER_BYTES], "big") % _LARGEST_NUMBER + 1
    while not await store.write(compat_files.put, call.account_id, _id_of(number), image, call.now):
        number = number % _LARGEST_NUMBER + 1
    return number


async def get_files(call: NhnCall, numbers: Sequence[int]) -> list[Image]:
    """Return pictures by their numbers.

    Raises NhnRefused.
    """
    if len(numbers) > MAX_IMAGES:
        raise refuse(4, f"attachFileIdList: 0 ~ {MAX_IMAGES}")
    found: list[Image] = []
    for number in numbers:
        known = 0 < number <= _LARGEST_NUMBER
        image = await call.context.store.read(compat_files.get, call.account_id, _id_of(number)) if known else None
        if image is None:
            raise refuse(-2004)
        found.append(image)
    return found


def _id_of(number: int) -> bytes:
    return number.to_bytes(NUMBER_BYTES, "big")
