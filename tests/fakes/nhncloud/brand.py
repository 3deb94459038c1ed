"""Brand message API v1.0: free form and templates, lists, results and images.

Places are lines of ko/friendtalkupgrade-api-guide.md of TOAST-DOCS/Alimtalk, branch feature/alpha/20260728.
Choices where it says nothing: fields that it does not have are -3002; a recipient without a targeting counts as I;
a template whose variables are not all given is -3324 for that recipient; M or N without application is -4029 for
the call.
"""

import re
from typing import Any

import msgspec

from tests.fakes.nhncloud import images, kakaotalk
from tests.fakes.nhncloud.answers import ApiError, Json, Request
from tests.fakes.nhncloud.kakaotalk import SUCCESS, Refusal, Resend
from tests.fakes.nhncloud.state import BRAND, DELIVERED, Message, Profile, State

FIELDS = {
    "TEXT": {"content", "buttons", "coupon"},
    "IMAGE": {"content", "image", "buttons", "coupon"},
    "WIDE": {"content", "image", "buttons", "coupon"},
    "WIDE_ITEM_LIST": {"header", "item", "buttons", "coupon"},
    "PREMIUM_VIDEO": {"content", "header", "video", "buttons", "coupon"},
    "COMMERCE": {"additionalContent", "image", "commerce", "buttons", "coupon"},
    "CAROUSEL_FEED": {"carousel"},
    "CAROUSEL_COMMERCE": {"carousel"},
}
"""The fields of each request body, 206, 313, 426, 539, 681, 796, 943 and 1101."""
IMAGE_TYPES = ("IMAGE", "WIDE_IMAGE")
"""3465; the others are uploaded in the console."""
NOT_A_FRIEND = "01000000004"
_VARIABLE = re.compile(r"#\{([^{}]+)\}")


class Recipient(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    recipientNo: str | None = None
    targeting: str | None = None
    templateParameter: dict[str, str] | None = None
    resendParameter: Resend | None = None
    recipientGroupingKey: str | None = None


class Call(msgspec.Struct, forbid_unknown_fields=True):
    """What `freestyle-messages` and `basic-messages` share."""

    senderKey: str | None = None
    pushAlarm: bool | None = None
    unsubscribeNo: str | None = None
    unsubscribeAuthNo: str | None = None
    recipientList: list[Recipient] | None = None
    senderGroupingKey: str | None = None
    resellerCode: str | None = None


class FreeForm(Call, forbid_unknown_fields=True):
    """The body of `freestyle-messages`."""

    chatBubbleType: str | None = None
    adult: bool | None = None
    content: str | None = None
    header: str | None = None
    additionalContent: str | None = None
    image: dict[str, Any] | None = None
    buttons: list[dict[str, Any]] | None = None
    item: dict[str, Any] | None = None
    coupon: dict[str, Any] | None = None
    commerce: dict[str, Any] | None = None
    video: dict[str, Any] | None = None
    carousel: dict[str, Any] | None = None


class Basic(Call, forbid_unknown_fields=True):
    """The body of `basic-messages`."""

    templateCode: str | None = None


_FREE_FORM = msgspec.json.Decoder(FreeForm)
_BASIC = msgspec.json.Decoder(Basic)


def send_free_form(state: State, request: Request) -> Json:
    """Accept messages: POST `freestyle-messages` (178)."""
    call: FreeForm = kakaotalk.decode_body(_FREE_FORM, request.body)
    profile = _check_call(state, request, call)
    for name in set().union(*FIELDS.values()) - FIELDS[call.chatBubbleType or ""]:
        if getattr(call, name) is not None:
            raise ApiError(-3305, f"The chatBubbleType {call.chatBubbleType} is not allowed {name} field.")
    return _accept(state, request, call, profile, call.content or "", frozenset())


def send_by_template(state: State, request: Request) -> Json:
    """Accept messages: POST `basic-messages` (1321)."""
    call: Basic = kakaotalk.decode_body(_BASIC, request.body)
    profile = _check_call(state, request, call)
    content = state.brand_templates.get((profile.sender_key, call.templateCode or ""))
    if content is None:
        raise ApiError(-3003, "Not exist template.")
    return _accept(state, request, call, profile, content, frozenset(_VARIABLE.findall(content)))


def _check_call(state: State, request: Request, call: Any) -> Profile:
    profile = kakaotalk.check_call(state, request, call)
    targets = {each.targeting for each in call.recipientList}
    if targets & {"M", "N"} and not profile.may_reach_others:
        raise ApiError(-4029, "To send 'M/N type' messages, you must first apply to have the feature enabled.")
    return profile


def _accept(
    state: State,
    request: Request,
    call: Any,
    profile: Profile,
    content: str,
    variables: frozenset[str],
) -> Json:
    def read(given: Recipient) -> tuple[str, Refusal]:
        return _fill(content, given.templateParameter or {}), _refusal(given, variables)

    answer = kakaotalk.accept(state, request, call, profile, BRAND, read, _late_code)
    return {"message": _documented(answer["message"])}


def _fill(content: str, values: dict[str, str]) -> str:
    return _VARIABLE.sub(lambda found: values.get(found[1], found[0]), content)


def _documented(message: Json) -> Json:
    """Return an answer as 1262–1272 documents it: without any grouping key."""
    rows = [
        {name: row[name] for name in ("recipientSeq", "recipientNo", "resultCode", "resultMessage")}
        for row in message["sendResults"]
    ]
    return {"requestId": message["requestId"], "sendResults": rows}


def _refusal(given: Recipient, variables: frozenset[str]) -> Refusal:
    if not variables <= set(given.templateParameter or ()):
        return -3324, "The template parameter is invalid."
    return SUCCESS


def _late_code(message: Message) -> str | None:
    """Return the result of a message to somebody who is not a friend: M and N reach them (152–155)."""
    reaches_others = message.recipient.targeting in ("M", "N")
    return DELIVERED if reaches_others and message.recipient_no.replace("-", "") == NOT_A_FRIEND else None


def upload(state: State, request: Request) -> Json:
    """Accept an image: POST `images`, with the file in `image` and its type in `imageType` (3436)."""
    image_type = request.form().get("imageType")
    if image_type not in IMAGE_TYPES:
        raise ApiError(-4000, "Invalid parameter")
    picture = images.store_image(state, request, "image", str(image_type))
    return {"image": {"imageSeq": picture.number, "imageUrl": picture.address, "imageName": picture.name}}


def search(state: State, request: Request) -> Json:
    """List messages: GET `messages` (1464), by `requestId` or by the span of request dates."""
    if any(name.endswith("CreateDate") for name in request.query):
        raise ApiError(-4000, "Invalid parameter")
    found = kakaotalk.search(state, request, BRAND)
    return kakaotalk.listed(found, request, lambda each: _list_row(state, each))


def results(state: State, request: Request) -> Json:
    """List results: GET `message-results` (1888)."""
    found = kakaotalk.list_updated(state, request, BRAND)
    return kakaotalk.listed(found, request, lambda each: _result_row(state, each), state.behavior.results_per_page)


def _result_row(state: State, message: Message) -> Json:
    row = kakaotalk.message_row(state, message)
    kept = (
        "requestId", "recipientSeq", "plusFriendId", "recipientNo", "requestDate", "messageStatus", "resendStatus",
        "resendStatusName", "resultCode", "resultCodeName", "senderGroupingKey", "recipientGroupingKey",
    )  # fmt: skip
    more = {"targeting": message.recipient.targeting or "I", "isAddedChannel": is_friend(message)}
    return {name: row[name] for name in kept} | more


def is_friend(message: Message) -> bool:
    """1972 and the webhook (ko/release-notes.md, 2026-06-23): "수신자의 카카오 채널 친구 여부"."""
    return message.recipient.targeting != "N" and message.recipient_no.replace("-", "") != NOT_A_FRIEND


def _list_row(state: State, message: Message) -> Json:
    row = kakaotalk.message_row(state, message)
    more = {name: row[name] for name in ("senderKey", "createDate", "receiveDate") if name in row} | {
        "chatBubbleType": getattr(message.call, "chatBubbleType", None),
        "pushAlarm": message.call.pushAlarm is not False,
    }
    found = _result_row(state, message) | more
    found["resendStatusCode"] = found.pop("resendStatus")
    return found
