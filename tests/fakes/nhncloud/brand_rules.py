"""What the brand message API refuses in a message of free form.

Places are lines of ko/friendtalkupgrade-api-guide.md and ko/error-code.md of TOAST-DOCS/Alimtalk, branch
feature/alpha/20260728.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tests.fakes.nhncloud.answers import ApiError
from tests.fakes.nhncloud.state import State

Fields = Mapping[str, Any]

BUTTON_TYPES = ("WL", "AL", "BK", "MD", "AC", "BT", "BF")
"""273."""
LINKS = ("linkMo", "linkPc")
OPT_OUT = re.compile(r"080-?\d{3,4}-?\d{4}")
"""267: "080-xxx-xxxx, 080-xxxx-xxxx, 080xxxxxxx, 080xxxxxxxx"; error-code 91: -3340."""
VIDEO = re.compile(r"https://tv\.kakao\.com/(v/\d+|channel/\d+/cliplink/\d+)")
"""ko/friendtalkupgrade-overview.md, "프리미엄 동영상"."""
PICTURE_TYPES = {"IMAGE": "IMAGE", "WIDE": "WIDE_IMAGE", "COMMERCE": "IMAGE"}
"""382, 495: "일반 이미지로 업로드된 이미지 URL 사용", "와이드 이미지로 업로드된 이미지 URL 사용"."""
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


def check_message(state: State, given: Fields) -> None:
    """Raises ApiError for a message that breaks the form of its type; lengths and numbers are not checked."""
    kind = str(given.get("chatBubbleType"))
    if kind not in FIELDS:
        raise ApiError(-3303, "chatBubbleType is empty.")
    for name in set().union(*FIELDS.values()) - FIELDS[kind]:
        if given.get(name) is not None:
            raise ApiError(-3305, f"The chatBubbleType {kind} is not allowed {name} field.")
    if not given.get("content") and kind in ("TEXT", "IMAGE", "WIDE"):
        raise ApiError(-3303, "content is empty.")
    _check_buttons(given.get("buttons") or [])
    if (coupon := given.get("coupon")) and not (coupon.get("title") and coupon.get("description")):
        raise ApiError(-3314, "The coupon field require {}")
    if kind in PICTURE_TYPES:
        _check_picture(state, kind, given.get("image") or {})
    if kind == "WIDE_ITEM_LIST" and not (given.get("header") and (given.get("item") or {}).get("list")):
        raise ApiError(-3303, "header is empty.")
    if kind == "PREMIUM_VIDEO" and not VIDEO.fullmatch((given.get("video") or {}).get("videoUrl") or ""):
        raise ApiError(-3318, "The videoUrl is not valid video url")
    if kind == "COMMERCE":
        _check_commerce(given.get("commerce") or {})
    if kind.startswith("CAROUSEL"):
        _check_carousel(kind, given.get("carousel") or {})


def _check_buttons(buttons: Sequence[Fields]) -> None:
    for button in buttons:
        if button.get("type") not in BUTTON_TYPES or not button.get("name"):
            raise ApiError(-3328, f"The button type {button.get('type')} is not allowed.")
        if button["type"] == "WL" and not button.get("linkMo"):
            raise ApiError(-3307, "linkType is required field linkMo")
        for link in (button.get(name) or "http://" for name in LINKS):
            if not link.startswith(("http://", "https://")):
                raise ApiError(-3310, "The linkMo/linkPc must include http:// or https://")


def _check_picture(state: State, kind: str, image: Fields) -> None:
    if not image.get("imageUrl"):
        raise ApiError(-3319, "image field require imageUrl")
    picture = state.pictures.get(image["imageUrl"])
    if picture is not None and picture.kind != PICTURE_TYPES[kind]:
        raise ApiError(-8001, "The image you upload is invalid.")


def _check_commerce(commerce: Fields) -> None:
    """875–879: "title", "regularPrice"."""
    if not commerce.get("title") or commerce.get("regularPrice") is None:
        raise ApiError(-3316, "commerce field require {}")


def _check_carousel(kind: str, carousel: Fields) -> None:
    """1049, 1203: the fields of a card."""
    needed = {"CAROUSEL_FEED": ("header", "message"), "CAROUSEL_COMMERCE": ("commerce",)}[kind]
    for card in carousel.get("list") or [{}]:
        if not all(card.get(each) for each in (*needed, "imageUrl", "buttons")):
            raise ApiError(-3332 if kind == "CAROUSEL_COMMERCE" else -3334, "The carousel item field require {}")
        _check_buttons(card["buttons"])
        if kind == "CAROUSEL_COMMERCE":
            _check_commerce(card["commerce"])
