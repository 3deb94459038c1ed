"""Sends friend talk, of which every recipient has a message of its own."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from pabal.carriers.relay.kakao import BUTTON_TYPES
from pabal.checks.sends.friendtalk import check_friendtalk
from pabal.compat.nhncloud.call import NhnCall
from pabal.compat.nhncloud.talk.bodies import FriendtalkBody, FriendtalkRecipient, TalkButton
from pabal.compat.nhncloud.talk.codes import TalkCode
from pabal.compat.nhncloud.talk.images import Uploaded, find_image
from pabal.compat.nhncloud.talk.sends import (
    RecipientPart,
    Resend,
    ResendRefused,
    TalkItem,
    api_call,
    check_call,
    cut,
    join_contents,
    keep_literal,
    opt_out_number_of,
    read_date,
    read_resend,
    refuse_malformed,
    send_parts,
    shared_of,
)
from pabal.compat.own_values import image_body
from pabal.domain.sends.sending import Sending
from pabal.models.bodies import ButtonBody, FriendtalkReceiverBody, SendFriendtalk
from pabal.service.sending.preconditions import get_usable_profile

_NOT_SENT = ("adult", "coupon", "header", "item", "carousel", "commerce", "video", "additionalContent")
"""What friend talk has at NHN Cloud and not here: a brand message has it."""
_OUR_TYPES = {remote: ours for ours, remote in BUTTON_TYPES.items()}
_BUTTON_FIELDS = {
    "name": "name",
    "linkMo": "mobileUrl",
    "linkPc": "pcUrl",
    "schemeAndroid": "androidUrl",
    "schemeIos": "iosUrl",
    "chatExtra": "chatExtra",
    "chatEvent": "chatEvent",
    "target": "target",
    "ordering": "orderNo",
}


class _Message(NamedTuple):
    """What a recipient gets."""

    recipient: FriendtalkRecipient
    image: Uploaded | None
    resend: Resend | None


async def send(call: NhnCall) -> dict[str, Any]:
    """Send friend talk: POST `messages`."""
    body = call.decode(FriendtalkBody)
    items = check_call(body, body.recipientList)
    date = read_date(call, body)
    profile = await get_usable_profile(call.context, call.account_id, body.senderKey or "")
    refusals = refuse_malformed(items)
    messages: dict[int, _Message] = {}
    groups: dict[Any, list[TalkItem]] = {}
    for item in refusals.left(items):
        recipient = item.recipient
        assert isinstance(recipient, FriendtalkRecipient)
        image = await find_image(call, recipient.imageUrl) if recipient.imageUrl else None
        try:
            resend = read_resend(recipient.resendParameter, profile.channel_id, opt_out_number_of(call))
        except ResendRefused as refused:
            refusals.add(item, refused.code)
            continue
        refusal = _find_refusal(recipient, image)
        if refusal:
            refusals.add(item, refusal)
            continue
        messages[item.seq] = _Message(recipient, image, resend)
        buttons = msgspec.json.encode(recipient.buttons)
        shared = recipient.imageUrl, recipient.imageLink, recipient.isAd is not False, buttons, shared_of(resend)
        groups.setdefault(shared, []).append(item)

    async def check(some: Sequence[TalkItem]) -> Sending:
        return await check_friendtalk(api_call(call, _build(body, some, messages, date)))

    most = call.context.policy.max_receivers
    parts = [RecipientPart(some, check) for group in groups.values() for some in cut(group, most)]
    return await send_parts(call, body, items, parts, refusals)


def _find_refusal(recipient: FriendtalkRecipient, image: Uploaded | None) -> TalkCode | None:
    if any(getattr(recipient, name) for name in _NOT_SENT):
        return TalkCode.BAD_FIELD
    if not (recipient.content or "").strip():
        return TalkCode.BLANK
    if recipient.imageUrl and image is None:
        return TalkCode.NO_IMAGE
    if any(each.has_plugin or each.bizFormKey or each.type not in _OUR_TYPES for each in recipient.buttons or ()):
        return TalkCode.BAD_BUTTON
    return None


def _build(
    body: FriendtalkBody, items: Sequence[TalkItem], messages: dict[int, _Message], date: str | None
) -> SendFriendtalk:
    """Return the body of a send of ours."""
    shown = [messages[each.seq] for each in items]
    recipient, image, resend = shown[0]
    links = [getattr(each, name) for each in recipient.buttons or () for name in _BUTTON_FIELDS if name[0] in "ls"]
    own = [keep_literal([each.recipient.content, *links]) for each in shown]
    contents = [each.resend.content if each.resend else None for each in shown]
    content, variable = join_contents(contents, [name for values in own for name in values])
    receivers = []
    for each, values, own_content in zip(shown, own, contents, strict=True):
        data = values if variable is None else {**values, variable: own_content or ""}
        number, text = each.recipient.recipientNo or "", each.recipient.content
        receivers.append(FriendtalkReceiverBody(phoneNumber=number, templateData=data or None, content=text))
    kind = None
    if image is not None:
        kind = "friendTalkWideImage" if image.is_wide else "friendTalkImage"
    return SendFriendtalk(
        senderKey=body.senderKey or "",
        sendDate=date,
        adFlag=recipient.isAd is not False,
        messageType=kind,
        image=image_body(image.image) if image else None,
        imageLink=recipient.imageLink or None,
        resend=resend is not None,
        resendPhoneNumber=resend.sender if resend else None,
        resendContent=content,
        buttons=[_button_body(each) for each in recipient.buttons or ()] or None,
        receivers=receivers,
    )


def _button_body(given: TalkButton) -> ButtonBody:
    fields = {
        ours: value for theirs, ours in _BUTTON_FIELDS.items() if (value := getattr(given, theirs)) is not None
    }
    return ButtonBody(buttonType=_OUR_TYPES[given.type or ""], **fields)
