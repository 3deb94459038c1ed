"""Friend talk API v2.4, which still accepts calls that are converted to brand messages.

Text, image and wide image; item lists, carousels, videos and commerce are refused as invalid fields.
"""

from typing import Any

import msgspec

from tests.fakes.nhncloud import images, kakaotalk
from tests.fakes.nhncloud.answers import ApiError, Json, Request
from tests.fakes.nhncloud.kakaotalk import SUCCESS, Button, Refusal, Resend
from tests.fakes.nhncloud.state import FRIENDTALK, Profile, State, UploadedFile

MAX_TEXT_CHARS, MAX_CHARS_WITH_IMAGE, MAX_CHARS_WITH_WIDE_IMAGE = 1000, 400, 76
MAX_BUTTONS, MAX_BUTTONS_WITH_COUPON, MAX_BUTTONS_WITH_WIDE_IMAGE = 5, 4, 2
MAX_BUTTON_NAME_CHARS = 28
BUTTON_TYPES = frozenset(("WL", "AL", "BK", "MD", "BF"))
"""Alimtalk ko/friendtalk-api-guide.md, "텍스트 발송 요청", `buttons.type`: no BC, BT, AC or DS."""
AD_LABEL = "(광고)"
"""Put in front of advertisements: Alimtalk ko/friendtalk-console-guide.md, "광고성 메시지 전송 시 유의 사항"."""
CONVERT_HEADER = "x-convert-to-brand-message"


class Recipient(msgspec.Struct, forbid_unknown_fields=True, gc=False):
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
    """Accept messages: POST `messages`."""
    if request.headers.get(CONVERT_HEADER, "").lower() != "true":
        why = "The API is no longer supported. Please migrate to the new brand-message endpoint/API."
        raise ApiError(-9992, why)
    call: Call = kakaotalk.decode_body(_CALL, request.body)
    profile, begins_at = kakaotalk.check_call(state, request, call)

    def read(given: Recipient) -> tuple[str, Refusal]:
        content = (AD_LABEL if given.isAd else "") + (given.content or "")
        return content, _refusal(state, profile, given)

    return kakaotalk.accept(state, request, call, profile, begins_at, FRIENDTALK, read)


def _refusal(state: State, profile: Profile, given: Recipient) -> Refusal:
    refusal = kakaotalk.check_recipient(profile, given)
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


def _length_refusal(content: str, picture: UploadedFile | None, buttons: list[Button]) -> Refusal | None:
    start = "The 'content' is too long. If you request the"
    if picture is None:
        if len(content) > MAX_TEXT_CHARS:
            return -2024, "The 'content' is too long. It can be less than 1,300 characters without any image."
    elif picture.is_wide:
        if len(content) > MAX_CHARS_WITH_WIDE_IMAGE:
            return -2030, f"{start} 'wide-image', It must be less than 76 characters."
        if len(buttons) > MAX_BUTTONS_WITH_WIDE_IMAGE:
            return -2031, (
                "The 'buttons' is too many. If you request the 'wide-image', It must be less than 2 buttons size."
            )
    elif len(content) > MAX_CHARS_WITH_IMAGE:
        return -2023, f"{start} 'image', It can be less than 400 characters."
    return None


def _buttons_refusal(given: Recipient, buttons: list[Button]) -> Refusal:
    if given.imageLink and not given.imageLink.startswith(("http://", "https://")):
        return -3327, "The imageLink must include http:// or https://"
    if len(buttons) > (MAX_BUTTONS_WITH_COUPON if given.coupon else MAX_BUTTONS):
        return -3217, "Friendtalk button size is invalid."
    for button in buttons:
        if button.ordering is None or button.type not in BUTTON_TYPES:
            return -2018, "Button parameter is invalid."
        if not button.name:
            return -3009, "Not exist button name."
        if len(button.name) > MAX_BUTTON_NAME_CHARS:
            return -2000, f"The 'name' must be at less than or equal to {MAX_BUTTON_NAME_CHARS}."
        refusal = kakaotalk.check_links(button)
        if refusal[0]:
            return refusal
    return SUCCESS


def upload(state: State, request: Request) -> Json:
    """Accept an image: POST `images`, with the file in `image` and optionally `wide`."""
    if not any(each.is_registered for each in state.profiles.values()):
        raise ApiError(-8005, "Your project doesn't have any plus friends. Please register it at first.")
    picture = images.store_image(state, request, "image")
    return {"image": {"imageSeq": picture.number, "imageUrl": picture.address, "imageName": picture.name}}


def search(state: State, request: Request) -> Json:
    """List messages: GET `messages`."""
    found = kakaotalk.search(state, request, FRIENDTALK)
    rows = [kakaotalk.message_row(state, each) for each in kakaotalk.page(found, request.query)]
    return {"messageSearchResultResponse": {"messages": rows, "totalCount": len(found)}}


def results(state: State, request: Request) -> Json:
    """List results: GET `message-results`."""
    found = kakaotalk.list_updated(state, request, FRIENDTALK)
    rows = [kakaotalk.message_row(state, each) for each in kakaotalk.page(found, request.query)]
    for row in rows:
        del row["createDate"], row["createUser"]
    return {"messageSearchResultResponse": {"messages": rows, "totalCount": len(found)}}
