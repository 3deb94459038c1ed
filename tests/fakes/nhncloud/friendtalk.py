"""Friend talk API v2.4, which still accepts calls that are converted to brand messages.

Text, image and wide image; item lists, carousels, videos and commerce are invalid fields.
"""

import msgspec

from tests.fakes.nhncloud import images, kakaotalk
from tests.fakes.nhncloud.answers import ApiError, Json, Request
from tests.fakes.nhncloud.kakaotalk import SUCCESS, Button, Refusal, Resend
from tests.fakes.nhncloud.state import FRIENDTALK, Message, State

AD_LABEL = "(광고)"
"""Put in front of advertisements: Alimtalk ko/friendtalk-console-guide.md, "광고성 메시지 전송 시 유의 사항"."""
CONVERT_HEADER = "x-convert-to-brand-message"


class Recipient(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    recipientNo: str | None = None
    content: str | None = None
    imageUrl: str | None = None
    imageLink: str | None = None
    buttons: list[Button] | None = None
    resendParameter: Resend | None = None
    isAd: bool = True
    recipientGroupingKey: str | None = None


class Call(msgspec.Struct, forbid_unknown_fields=True):
    """The body of `messages`."""

    senderKey: str | None = None
    senderGroupingKey: str | None = None
    recipientList: list[Recipient] | None = None


_CALL = msgspec.json.Decoder(Call)


def send(state: State, request: Request) -> Json:
    """Accept messages: POST `messages`."""
    if request.headers.get(CONVERT_HEADER, "").lower() != "true":
        why = "The API is no longer supported. Please migrate to the new brand-message endpoint/API."
        raise ApiError(-9992, why)
    call: Call = kakaotalk.decode_body(_CALL, request.body)
    profile = kakaotalk.check_call(state, request, call)

    def read(given: Recipient) -> tuple[str, Refusal]:
        content = (AD_LABEL if given.isAd else "") + (given.content or "")
        has_image = given.imageUrl is None or given.imageUrl in state.pictures
        return content, SUCCESS if has_image else (-8002, "It is not found any images.")

    return kakaotalk.accept(state, request, call, profile, FRIENDTALK, read)


def upload(state: State, request: Request) -> Json:
    """Accept an image: POST `images`, with the file in `image` and optionally `wide`."""
    picture = images.store_image(state, request, "image")
    return {"image": {"imageSeq": picture.number, "imageUrl": picture.address, "imageName": picture.name}}


def search(state: State, request: Request) -> Json:
    """List messages: GET `messages`."""
    found = kakaotalk.search(state, request, FRIENDTALK)
    return kakaotalk.listed(found, request, lambda each: kakaotalk.message_row(state, each))


def results(state: State, request: Request) -> Json:
    """List results: GET `message-results`."""
    found = kakaotalk.list_updated(state, request, FRIENDTALK)

    def describe(message: Message) -> Json:
        row = kakaotalk.message_row(state, message)
        del row["createDate"]
        return row

    return kakaotalk.listed(found, request, describe)
