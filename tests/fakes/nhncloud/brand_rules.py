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

MAX_CONTENT = {"TEXT": (1300, 99), "IMAGE": (1300, 99), "WIDE": (76, 5), "PREMIUM_VIDEO": (76, 5)}
"""270: "TEXT 타입일 경우 최대 1,300자(줄바꿈: 최대 99개 …) … WIDE 타입일 경우 최대 76자(줄바꿈: 최대 5개)"."""
BUTTONS = {"TEXT": (0, 5), "IMAGE": (0, 5), "WIDE": (0, 2), "WIDE_ITEM_LIST": (0, 2), "PREMIUM_VIDEO": (0, 1)}
BUTTONS["COMMERCE"] = (1, 2)
"""271: "TEXT, IMAGE 타입일 경우 쿠폰 적용 시 최대 4개, 그 외 최대 5개 … COMMERCE … 최소 1개, 최대 2개"."""
LONG_NAMES = ("TEXT", "IMAGE")
"""272: "TEXT, IMAGE 타입일 경우 최대 14자 - 이외의 타입일 경우 최대 8자"."""
BUTTON_TYPES = ("WL", "AL", "BK", "MD", "AC", "BT", "BF")
"""273."""
MAX_LINK = 1000
"""274: "1,000자 제한"."""
LINKS = ("linkMo", "linkPc", "schemeAndroid", "schemeIos")
COUPON_TITLES = re.compile(
    r"\d{1,8}원 할인 쿠폰|\d{1,3}% 할인 쿠폰|배송비 할인 쿠폰|.{1,7} 무료 쿠폰|.{1,7} UP 쿠폰"
)
"""282: "title의 경우 5가지 형식으로 제한됨"."""
WIDE_COUPONS = ("WIDE", "WIDE_ITEM_LIST", "PREMIUM_VIDEO")
"""283: "WIDE, WIDE_ITEM_LIST, PREMIUM_VIDEO 타입일 경우 최대 18자 … 이외의 타입일 경우 최대 12자"."""
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
    """Raises ApiError for a message that breaks a rule of its type."""
    kind = str(given.get("chatBubbleType"))
    if kind not in FIELDS:
        raise ApiError(-3303, "chatBubbleType is empty.")
    for name in set().union(*FIELDS.values()) - FIELDS[kind]:
        if given.get(name) is not None:
            raise ApiError(-3305, f"The chatBubbleType {kind} is not allowed {name} field.")
    _check_content(kind, given.get("content"))
    buttons = given.get("buttons") or []
    low, high = BUTTONS.get(kind, (0, 0))
    if given.get("coupon") and kind in LONG_NAMES:
        high = 4
    if not low <= len(buttons) <= high:
        code = -3306 if kind == "COMMERCE" and not buttons else -3304
        raise ApiError(code, "The 'buttons' must be between {} and {}.")
    _check_buttons(kind, buttons)
    if coupon := given.get("coupon"):
        _check_coupon(kind, coupon)
    if kind in PICTURE_TYPES:
        _check_picture(state, kind, given.get("image") or {})
    if kind == "WIDE_ITEM_LIST":
        _check_list(given)
    if kind == "PREMIUM_VIDEO":
        _check_video(state, (given.get("video") or {}).get("videoUrl") or "")
    if kind == "COMMERCE":
        _check_commerce(given.get("commerce") or {})
    if kind.startswith("CAROUSEL"):
        _check_carousel(kind, given.get("carousel") or {})


def _check_video(state: State, url: str) -> None:
    """3399 of master: "상태가 `PUBLIC`인 동영상만 템플릿 등록 및 발송이 가능합니다"."""
    if not VIDEO.fullmatch(url) and url not in state.public_videos:
        raise ApiError(-3318, "The videoUrl is not valid video url")


def _check_content(kind: str, content: Any) -> None:
    if not content and kind in ("TEXT", "IMAGE", "WIDE"):
        raise ApiError(-3303, "content is empty.")
    if content:
        characters, breaks = MAX_CONTENT[kind]
        _check_text("content", content, characters, breaks)


def _check_text(name: str, value: Any, limit: int, breaks: int = 0) -> None:
    if len(value) > limit or value.count("\n") > breaks:
        raise ApiError(-3304, f"The '{name}' must be between 1 and {limit}.")


def _check_links(part: Fields, needed: str = "") -> None:
    if needed and not part.get(needed):
        raise ApiError(-3307, f"linkType is required field {needed}")
    for name in LINKS:
        link = part.get(name)
        if link is None:
            continue
        if len(link) > MAX_LINK:
            raise ApiError(-3304, f"The '{name}' must be between 1 and {MAX_LINK}.")
        if name in ("linkMo", "linkPc") and not link.startswith(("http://", "https://")):
            raise ApiError(-3310, "The linkMo/linkPc must include http:// or https://")


def _check_buttons(kind: str, buttons: Sequence[Fields]) -> None:
    for index, button in enumerate(buttons):
        name, button_type = str(button.get("name") or ""), button.get("type")
        if button_type not in BUTTON_TYPES:
            raise ApiError(-3328, f"The button type {button_type} is not allowed.")
        if not 1 <= len(name) <= (14 if kind in LONG_NAMES else 8):
            raise ApiError(-3304, "The 'name' must be between 1 and 14.")
        _check_links(button, "linkMo" if button_type == "WL" else "")
        if (
            button_type == "AL"
            and sum(bool(button.get(each)) for each in ("schemeAndroid", "schemeIos", "linkMo")) < 2
        ):
            raise ApiError(-3309, "If there is an AL(appLink) in the template, at least two must be entered.")
        if button_type == "AC":
            _check_addition(kind, name, index, len(buttons))


def _check_addition(kind: str, name: str, index: int, count: int) -> None:
    """158–165: "TEXT, IMAGE: 첫 번째 버튼(최상단) … 그 외: 두 번째 버튼(우측)".

    ko/release-notes.md, 2026-04-28: "채널 추가 버튼을 모든 타겟팅에서 사용할 수 있도록 확장했습니다. 수신자가
    친구인 경우 발송이 실패하진 않으나 채널 추가 버튼이 노출되지 않습니다.", against "타겟팅 M, N만 사용
    가능합니다" in 165.
    """
    if name != "채널 추가":
        raise ApiError(-3348, "AC type button name must be '채널 추가'.")
    if kind in LONG_NAMES and index:
        raise ApiError(-3311, "When the type is TEXT or IMAGE, AC button type must be the first button.")
    if kind not in LONG_NAMES and index != count - 1:
        raise ApiError(-3312, "When the type is not TEXT or IMAGE, AC button type must be the last button.")


def _check_coupon(kind: str, coupon: Fields) -> None:
    for name in ("title", "description"):
        if not coupon.get(name):
            raise ApiError(-3314, f"The coupon field require {name}")
    if not COUPON_TITLES.fullmatch(coupon["title"]):
        raise ApiError(-3315, "The title is not valid coupon title")
    _check_text("description", coupon["description"], 18 if kind in WIDE_COUPONS else 12)
    _check_links(coupon)


def _check_picture(state: State, kind: str, image: Fields) -> None:
    picture = state.pictures.get(image.get("imageUrl") or "")
    if not image.get("imageUrl"):
        raise ApiError(-3319, "image field require imageUrl")
    if picture is not None and picture.kind != PICTURE_TYPES[kind]:
        raise ApiError(-8001, "The image you upload is invalid.")
    if len(image.get("imageLink") or "") > MAX_LINK:
        raise ApiError(-3304, f"The 'imageLink' must be between 1 and {MAX_LINK}.")


def _check_list(given: Fields) -> None:
    """630–635: "최대 20자(줄바꿈: 불가)", "최소: 3, 최대 4", "최대 25자 제한 … 2~4번째 아이템 최대 30자 제한"."""
    if not given.get("header"):
        raise ApiError(-3303, "header is empty.")
    _check_text("header", given["header"], 20)
    items = (given.get("item") or {}).get("list") or []
    if not 3 <= len(items) <= 4:
        raise ApiError(-3304, "The 'item' must be between 3 and 4.")
    for index, item in enumerate(items):
        if not item.get("imageUrl") or (index and not item.get("title")):
            raise ApiError(-3325, "item field require {}")
        _check_text("title", item.get("title") or "", 30 if index else 25, 1)
        _check_links(item, "linkMo")


def _check_commerce(commerce: Fields) -> None:
    """875–879, error-code 192: the documented combinations of prices."""
    if not commerce.get("title") or commerce.get("regularPrice") is None:
        raise ApiError(-3316, "commerce field require {}")
    _check_text("title", commerce["title"], 30)
    discounts = {
        each for each in ("discountPrice", "discountRate", "discountFixed") if commerce.get(each) is not None
    }
    if discounts not in (set(), {"discountPrice", "discountRate"}, {"discountPrice", "discountFixed"}):
        raise ApiError(-3299, "The commerce variable must be used in a documented combination.")


def _check_carousel(kind: str, carousel: Fields) -> None:
    """1049, 1203: "최소 2개, 최대 6개"; "head가 존재할 경우 최소 1개, 최대 5개"."""
    head, cards = carousel.get("head"), carousel.get("list") or []
    less = 1 if head else 0
    if not 2 - less <= len(cards) <= 6 - less:
        raise ApiError(-3320, "The carousel list size must be between {} and {}")
    if head and (kind == "CAROUSEL_FEED" or not all(head.get(each) for each in ("header", "content", "imageUrl"))):
        raise ApiError(-3322, "The carousel head field require {}")
    needed = {"CAROUSEL_FEED": ("header", "message"), "CAROUSEL_COMMERCE": ("commerce",)}[kind]
    for card in cards:
        if not all(card.get(each) for each in (*needed, "imageUrl", "buttons")):
            raise ApiError(-3332 if kind == "CAROUSEL_COMMERCE" else -3334, "The carousel item field require {}")
        _check_text("header", card.get("header") or "", 20)
        _check_text("message", card.get("message") or "", 180, 99)
        if len(card["buttons"]) > 2:
            raise ApiError(-3304, "The 'buttons' must be between 1 and 2.")
        _check_buttons(kind, card["buttons"])
        if kind == "CAROUSEL_COMMERCE":
            _check_commerce(card["commerce"])
    if sum(button["type"] == "AC" for card in cards for button in card["buttons"]) > 1:
        raise ApiError(-3349, "AC button can only be used once across all carousel items.")
    if tail := carousel.get("tail"):
        _check_links(tail, "linkMo")
