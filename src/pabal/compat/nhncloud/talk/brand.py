"""Sends brand messages: in free form, or by a template that only the relay behind knows."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from pabal.carriers.relay.kakao import CHAT_BUBBLE_TYPES
from pabal.checks.sends.brand import check_brand_message
from pabal.compat.nhncloud.call import NhnCall
from pabal.compat.nhncloud.talk.bodies import BasicBody, BrandBody, BrandRecipient, FreestyleBody
from pabal.compat.nhncloud.talk.codes import TalkCode, refuse
from pabal.compat.nhncloud.talk.images import find_image, is_ours, names_ours
from pabal.compat.nhncloud.talk.sends import (
    PreparedSend,
    RecipientRefused,
    TalkItem,
    api_call,
    join_resends,
    keep_literal,
    open_call,
    opt_out_number_of,
    read_resend,
    send_recipients,
)
from pabal.compat.own_values import image_body
from pabal.domain.sends.sending import Sending
from pabal.models.bodies import FriendtalkReceiverBody, ImageBody
from pabal.models.brand_bodies import AttachmentBody, SendBrandMessage

_TYPES = {remote: ours.value for ours, remote in CHAT_BUBBLE_TYPES.items()}
_OF_A_RECIPIENT = ("resendPhoneNumber", "resendContent", "targeting", "optOutNumber", "optOutAuthNumber")
"""Fields of ours that a recipient has at NHN Cloud."""
_ATTACHED = ("header", "additionalContent", "buttons", "item", "coupon", "commerce", "video", "carousel")
_NAMES_OF_RECIPIENTS = ("recipientSeq", "recipientNo", "resultCode", "resultMessage")


class _Options(NamedTuple):
    """What a recipient has of its own beside the text in place of its message."""

    targeting: str | None
    opt_out_number: str | None
    opt_out_auth_number: str | None


class _Picture(NamedTuple):
    """The picture of a message: one that was uploaded here, or its address at the relay behind."""

    image: ImageBody | None
    link: str | None


async def send_freestyle(call: NhnCall) -> dict[str, Any]:
    """Send brand messages in free form: POST `freestyle-messages`."""
    body = call.decode(FreestyleBody)
    kind = _TYPES.get(body.chatBubbleType or "")
    if kind is None:
        raise refuse(TalkCode.INVALID_PARAMETER, f"chatBubbleType: {', '.join(_TYPES)}")
    attached = {name: getattr(body, name) for name in _ATTACHED if getattr(body, name) is not None}
    picture = await _read_picture(call, body.image or {}, attached)
    if names_ours(attached):
        raise refuse(TalkCode.NO_IMAGE, ", ".join(sorted(attached)))
    try:
        attachment = msgspec.convert(attached, AttachmentBody)
    except msgspec.ValidationError as error:
        raise refuse(TalkCode.INVALID_PARAMETER, str(error)) from None
    call.note_ignored(attached, AttachmentBody)
    literal = keep_literal([body.content])
    shown: dict[str, Any] = {
        "messageType": kind,
        "content": body.content or None,
        "image": picture.image,
        "imageLink": picture.link,
        "attachment": attachment,
        "adult": body.adult,
    }
    return await _send(call, body, shown, lambda _: literal)


async def send_basic(call: NhnCall) -> dict[str, Any]:
    """Send brand messages by a template: POST `basic-messages`."""
    body = call.decode(BasicBody)
    if not (body.templateCode or "").strip():
        raise refuse(TalkCode.BLANK, "templateCode")
    shown = {"templateCode": body.templateCode}
    return await _send(call, body, shown, lambda recipient: recipient.templateParameter or {})


async def _read_picture(call: NhnCall, given: Mapping[str, Any], attached: dict[str, Any]) -> _Picture:
    """Return the picture of a message; one with an address of the relay behind is attached.

    Raises NhnRefused where it names one of ours that is not there.
    """
    address, link = given.get("imageUrl"), given.get("imageLink")
    if not isinstance(address, str) or not is_ours(address):
        if given:
            attached["image"] = given
        return _Picture(None, None)
    found = await find_image(call, address)
    if found is None or not isinstance(link, str | None):
        raise refuse(TalkCode.NO_IMAGE, "image")
    return _Picture(image_body(found.image), link or None)


async def _send(
    call: NhnCall,
    body: BrandBody,
    shown: Mapping[str, Any],
    values_of: Callable[[BrandRecipient], Mapping[str, Any]],
) -> dict[str, Any]:
    """Send a message that all recipients share, but for the values of a template; return the answer."""
    opened = await open_call(call, body, body.recipientList)

    async def prepare(recipient: BrandRecipient) -> PreparedSend:
        refusal = _find_refusal(body, recipient)
        if refusal:
            raise RecipientRefused(refusal)
        options = _options_of(body, recipient)
        number = (options.opt_out_number or opt_out_number_of(call)).replace("-", "")
        resend = read_resend(recipient.resendParameter, opened.profile.channel_id, number)
        return PreparedSend(options, options, resend)

    async def check(items: Sequence[TalkItem]) -> Sending:
        data = [values_of(each.recipient) for each in items]
        return await check_brand_message(api_call(call, _build(body, shown, items, data, opened.date)))

    answer = await send_recipients(call, body, opened, prepare, check, is_shared=_is_shared)
    del answer["message"]["senderGroupingKey"]
    results = answer["message"]["sendResults"]
    answer["message"]["sendResults"] = [{name: row[name] for name in _NAMES_OF_RECIPIENTS} for row in results]
    return answer


def _is_shared(field: str) -> bool:
    return not field.startswith(("receivers[", *_OF_A_RECIPIENT))


def _options_of(body: BrandBody, recipient: BrandRecipient) -> _Options:
    """Return what a recipient has of its own; numbers of the call come before those of recipients, as there."""
    given = body if body.unsubscribeNo else recipient
    return _Options(recipient.targeting or None, given.unsubscribeNo or None, given.unsubscribeAuthNo or None)


def _find_refusal(body: BrandBody, recipient: BrandRecipient) -> TalkCode | None:
    if recipient.imageParameters or recipient.videoParameter:
        return TalkCode.BAD_IMAGES
    if isinstance(body, FreestyleBody) and recipient.templateParameter:
        return TalkCode.BAD_PARAMETERS
    return TalkCode.BAD_TARGETING if isinstance(body, BasicBody) and not recipient.targeting else None


def _build(
    body: BrandBody,
    shown: Mapping[str, Any],
    items: Sequence[TalkItem],
    data: Sequence[Mapping[str, Any]],
    date: str | None,
) -> SendBrandMessage:
    """Return the body of a send of ours."""
    options: _Options = items[0].own
    resends = join_resends(items, {name.removeprefix("#{").removesuffix("}") for values in data for name in values})
    receivers = [
        FriendtalkReceiverBody(
            phoneNumber=each.recipient.recipientNo, templateData=resends.values_of(each, values) or None
        )
        for each, values in zip(items, data, strict=True)
    ]
    return SendBrandMessage(
        senderKey=body.senderKey or "",
        sendDate=date,
        targeting=options.targeting,
        pushAlarm=body.pushAlarm,
        optOutNumber=options.opt_out_number,
        optOutAuthNumber=options.opt_out_auth_number,
        receivers=receivers,
        **resends.fields,
        **shown,
    )
