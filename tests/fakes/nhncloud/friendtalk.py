"""Friend talk API v2.4, as it is still answered for calls that are to become brand messages.

Text, image and wide image; item lists, carousels, videos and commerce are refused as fields that are not valid.
"""

from typing import Any

import msgspec

from tests.fakes.nhncloud import images, talk
from tests.fakes.nhncloud.answers import Json, No, Request
from tests.fakes.nhncloud.state import FRIENDTALK, Message, Picture, Profile, State
from tests.fakes.nhncloud.talk import FINE, Button, Refusal, Resend

MOST_TEXT, MOST_WITH_IMAGE, MOST_WITH_WIDE_IMAGE = 1000, 400, 76
MOST_BUTTONS, MOST_WITH_COUPON, MOST_WIDE_BUTTONS = 5, 4, 2
MOST_BUTTON_NAME = 28
BUTTON_TYPES = frozenset(("WL", "AL", "BK", "MD", "BF", "BC", "BT", "AC"))
CONVERT = "x-convert-to-brand-message"


class Recipient(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A recipient of friend talk."""

    recipientNo: str | None = None
    content: str | None = None
    imageUrl: str | None = None
    imageLink: str | None = None
    buttons: list[Button] | None = None
    coupon: dict[str, Any] | None = None
    resendParameter: Resend | None = None
    isAd: bool = True
    adult: bool | None = None
    recipientGroupingKey: str | None = None


class Call(msgspec.Struct, forbid_unknown_fields=True):
    """The body of `messages`."""

    senderKey: str | None = None
    requestDate: str | None = None
    senderGroupingKey: str | None = None
    createUser: str | None = None
    recipientList: list[Recipient] | None = None
    statsId: str | None = None


_CALL = msgspec.json.Decoder(Call)


def send(state: State, request: Request) -> Json:
    """Take messages: POST `messages`."""
    if request.headers.get(CONVERT, "").lower() != "true":
        why = "The API is no longer supported. Please migrate to the new brand-message endpoint/API."
        raise No(-9992, why)
    call: Call = talk.decoded(_CALL, request.body)
    app_key = request.parts["appkey"]
    profile, begins_at = talk.check_call(state, request, app_key, call)
    now, request_id = state.clock(), state.new_id()
    made = []
    for seq, given in enumerate(call.recipientList or (), 1):
        refused, why = _refusal(state, profile, given)
        message = Message(
            FRIENDTALK,
            "FRIENDTALK",
            request_id,
            seq,
            given.recipientNo or "",
            profile.sender_key,
            call.senderGroupingKey,
            given.recipientGroupingKey,
            given.content or "",
            now,
            begins_at,
            call,
            given,
            is_ad=given.isAd,
            refused=refused,
        )
        made.append((message, why))
    return talk.take(state, request, app_key, call, profile, made)


def _refusal(state: State, profile: Profile, given: Recipient) -> Refusal:
    refusal = talk.check_recipient(profile, given)
    if refusal[0]:
        return refusal
    content, buttons = given.content or "", given.buttons or []
    if not content.strip():
        return -2001, "The 'content' must not be blank."
    picture = None
    if given.imageUrl is not None:
        picture = state.pictures.get(given.imageUrl)
        if picture is None:
            return -8002, "It is not found any images."
    return _length_refusal(content, picture, buttons) or _buttons_refusal(given, buttons)


def _length_refusal(content: str, picture: Picture | None, buttons: list[Button]) -> Refusal | None:
    start = "The 'content' is too long. If you request the"
    if picture is None:
        if len(content) > MOST_TEXT:
            return -2024, "The 'content' is too long. It can be less than 1,300 characters without any image."
    elif picture.is_wide:
        if len(content) > MOST_WITH_WIDE_IMAGE:
            return -2030, f"{start} 'wide-image', It must be less than 76 characters."
        if len(buttons) > MOST_WIDE_BUTTONS:
            return -2031, (
                "The 'buttons' is too many. If you request the 'wide-image', It must be less than 2 buttons size."
            )
    elif len(content) > MOST_WITH_IMAGE:
        return -2023, f"{start} 'image', It can be less than 400 characters."
    return None


def _buttons_refusal(given: Recipient, buttons: list[Button]) -> Refusal:
    if given.imageLink and not given.imageLink.startswith(("http://", "https://")):
        return -3327, "The imageLink must include http:// or https://"
    if len(buttons) > (MOST_WITH_COUPON if given.coupon else MOST_BUTTONS):
        return -3217, "Friendtalk button size is invalid."
    for button in buttons:
        if button.ordering is None or button.type not in BUTTON_TYPES:
            return -2018, "Button parameter is invalid."
        if not button.name:
            return -3009, "Not exist button name."
        if len(button.name) > MOST_BUTTON_NAME:
            return -2000, f"The 'name' must be at less than or equal to {MOST_BUTTON_NAME}."
        refusal = talk.check_links(button)
        if refusal[0]:
            return refusal
    return FINE


def upload(state: State, request: Request) -> Json:
    """Take a picture: POST `images`, with the file in `image` and perhaps `wide`."""
    if not any(each.is_registered for each in state.profiles.values()):
        raise No(-8005, "Your project doesn't have any plus friends. Please register it at first.")
    picture = images.take(state, request, "image")
    return {"image": {"imageSeq": picture.number, "imageUrl": picture.address, "imageName": picture.name}}


def search(state: State, request: Request) -> Json:
    """List messages: GET `messages`."""
    found = talk.search(state, request, FRIENDTALK)
    rows = [talk.full_row(state, each) for each in talk.paged(found, request.query)]
    return {"messageSearchResultResponse": {"messages": rows, "totalCount": len(found)}}


def one(state: State, request: Request) -> Json:
    """Show a message: GET `messages/{requestId}/{recipientSeq}`."""
    message = talk.one(state, request, FRIENDTALK)
    picture = state.pictures.get(message.given.imageUrl or "")
    more = {
        "imageSeq": picture.number if picture else None,
        "imageName": picture.name if picture else None,
        "imageUrl": message.given.imageUrl,
        "imageLink": message.given.imageLink,
        "wide": picture.is_wide if picture else None,
        "buttons": msgspec.to_builtins(message.given.buttons or []),
        "isAd": message.is_ad,
        "adult": message.given.adult,
        "resendResultCode": None,
        "resendRequestId": None,
    }
    return {"message": {**talk.full_row(state, message), **more}}


def results(state: State, request: Request) -> Json:
    """List results: GET `message-results`."""
    found = talk.updated(state, request, FRIENDTALK)
    rows = [talk.full_row(state, each) for each in talk.paged(found, request.query)]
    for row in rows:
        del row["createDate"], row["createUser"]
    return {"messageSearchResultResponse": {"messages": rows, "totalCount": len(found)}}
