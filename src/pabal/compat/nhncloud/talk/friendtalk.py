"""Sends friend talk, of which every recipient has a message of its own."""

from collections.abc import Sequence
from typing import Any

import msgspec

from pabal.carriers.relay.kakao import BUTTON_TYPES
from pabal.checks.sends.friendtalk import check_friendtalk
from pabal.compat.nhncloud.call import NhnCall
from pabal.compat.nhncloud.talk.bodies import FriendtalkBody, FriendtalkRecipient, TalkButton
from pabal.compat.nhncloud.talk.codes import TalkCode
from pabal.compat.nhncloud.talk.images import Uploaded, find_image
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
from pabal.models.bodies import ButtonBody, FriendtalkReceiverBody, SendFriendtalk

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


async def send(call: NhnCall) -> dict[str, Any]:
    """Send friend talk: POST `messages`."""
    body = call.decode(FriendtalkBody)
    opened = await open_call(call, body, body.recipientList)

    async def prepare(recipient: FriendtalkRecipient) -> PreparedSend:
        image = await find_image(call, recipient.imageUrl) if recipient.imageUrl else None
        resend = read_resend(recipient.resendParameter, opened.profile.channel_id, opt_out_number_of(call))
        refusal = _find_refusal(recipient, image)
        if refusal:
            raise RecipientRefused(refusal)
        buttons = msgspec.json.encode(recipient.buttons)
        shared = recipient.imageUrl, recipient.imageLink, recipient.isAd is not False, buttons
        return PreparedSend(image, shared, resend)

    async def check(items: Sequence[TalkItem]) -> Sending:
        return await check_friendtalk(api_call(call, _build(body, items, opened.date)))

    return await send_recipients(call, body, opened, prepare, check)


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


def _build(body: FriendtalkBody, items: Sequence[TalkItem], date: str | None) -> SendFriendtalk:
    """Return the body of a send of ours."""
    recipient: FriendtalkRecipient = items[0].recipient
    image: Uploaded | None = items[0].own
    links = [getattr(each, name) for each in recipient.buttons or () for name in _BUTTON_FIELDS if name[0] in "ls"]
    own = [keep_literal([each.recipient.content, *links]) for each in items]
    resends = join_resends(items, {name for values in own for name in values})
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
        buttons=[_button_body(each) for each in recipient.buttons or ()] or None,
        receivers=[
            FriendtalkReceiverBody(
                phoneNumber=each.recipient.recipientNo,
                templateData=resends.values_of(each, values) or None,
                content=each.recipient.content,
            )
            for each, values in zip(items, own, strict=True)
        ],
        **resends.fields,
    )


def _button_body(given: TalkButton) -> ButtonBody:
    fields = {
        ours: value for theirs, ours in _BUTTON_FIELDS.items() if (value := getattr(given, theirs)) is not None
    }
    return ButtonBody(buttonType=_OUR_TYPES[given.type or ""], **fields)
