"""The brand message API of the fake NHN Cloud answers as documented."""

import asyncio
from typing import Any

import pytest

from tests.fakes.nhncloud.answers import Json
from tests.fakes.nhncloud.calling import JPEG, Caller, ManualClock, result_code
from tests.fakes.nhncloud.server import FakeNhnCloud

KEY = "5e" * 20
LINK = "https://shop.example"
WEB = {"name": "열기", "type": "WL", "linkMo": LINK}
ADD = {"name": "채널 추가", "type": "AC"}
ITEM = {"title": "상품", "imageUrl": LINK, "linkMo": LINK}
CARD = {"header": "제목", "message": "내용", "imageUrl": LINK, "buttons": [WEB]}


def relay_with_profile(clock: ManualClock) -> FakeNhnCloud:
    """Return a server with one profile and a template."""
    relay = FakeNhnCloud(clock)
    profile = relay.add_profile()
    relay.profiles[KEY] = relay.profiles.pop(profile.sender_key)
    relay.profiles[KEY].sender_key = KEY
    relay.brand_templates[KEY, "B1"] = "#{name}님"
    return relay


def body(kind: str = "TEXT", targeting: str = "I", **fields: Any) -> Json:
    """Return the body of a message in free form to one recipient."""
    shared = {"content": "안녕하세요"} if kind in ("TEXT", "IMAGE", "WIDE") else {}
    recipients = [{"recipientNo": "01012345678", "targeting": targeting, "recipientGroupingKey": "key"}]
    return {"senderKey": KEY, "chatBubbleType": kind, **shared, "recipientList": recipients, **fields}


REFUSALS: list[tuple[Json, int]] = [
    (body(), 0),
    (body(senderKey="f" * 40), -2017),
    (body(targeting="X"), -3298),
    (body(targeting="M"), -4029),
    (body("POSTER"), -3303),
    (body(content=""), -3303),
    (body(content="가" * 1301), -3304),
    (body(content="가\n" * 100), -3304),
    (body(header="제목"), -3305),
    (body(unsubscribeNo="02-123-4567"), -3340),
    (body(unsubscribeAuthNo="1"), -3341),
    (body(buttons=[WEB] * 6), -3304),
    (body(buttons=[WEB] * 5, coupon={"title": "배송비 할인 쿠폰", "description": "오늘"}), -3304),
    (body(buttons=[{**WEB, "type": "BC"}]), -3328),
    (body(buttons=[{"name": "열기", "type": "WL"}]), -3307),
    (body(buttons=[{**WEB, "linkMo": "shop.example"}]), -3310),
    (body(buttons=[ADD]), -3328),
    (body(buttons=[WEB, ADD]), -3311),
    (body(coupon={"title": "쿠폰", "description": "오늘"}), -3315),
    (body("IMAGE"), -3319),
    (body("WIDE", image={"imageUrl": LINK}, content="가" * 77), -3304),
    (body("WIDE_ITEM_LIST", header="제목", item={"list": [ITEM] * 2}), -3304),
    (body("WIDE_ITEM_LIST", header="제목", item={"list": [ITEM] * 3}), 0),
    (body("COMMERCE", image={"imageUrl": LINK}, commerce={"title": "가", "regularPrice": 1}), -3306),
    (body("PREMIUM_VIDEO", video={"videoUrl": LINK}), -3318),
    (body("CAROUSEL_FEED", carousel={"list": [CARD]}), -3320),
    (body("CAROUSEL_FEED", carousel={"list": [CARD, CARD]}), 0),
    (body("CAROUSEL_COMMERCE", carousel={"list": [CARD, CARD]}), -3332),
    (body(surprise=1), -3002),
]


@pytest.mark.parametrize(("given", "code"), REFUSALS)
def test_free_form_is_refused_with_the_documented_code(given: Json, code: int) -> None:
    async def main() -> None:
        answer = await Caller(relay_with_profile(ManualClock())).brand("POST", "freestyle-messages", given)

        assert result_code(answer) == code, answer

    asyncio.run(main())


def test_answer_has_no_grouping_keys_and_lists_find_messages_by_them() -> None:
    async def main() -> None:
        clock = ManualClock()
        caller = Caller(relay_with_profile(clock))
        sent = await caller.brand("POST", "freestyle-messages", body(senderGroupingKey="group"))
        clock.advance_s(5)
        span = {"startRequestDate": "2026-11-15 00:00", "endRequestDate": "2026-11-16 00:00"}
        created = {"startCreateDate": "2026-11-15 00:00", "endCreateDate": "2026-11-16 00:00"}
        found = await caller.brand("GET", "messages", params=span | {"recipientGroupingKey": "key"})
        undocumented = await caller.brand("GET", "messages", params=created | {"recipientGroupingKey": "key"})
        update = {"startUpdateDate": "2026-11-15 00:00", "endUpdateDate": "2026-11-16 00:00"}
        results = await caller.brand("GET", "message-results", params=update)

        (row,) = sent["message"]["sendResults"]
        assert set(row) == {"recipientSeq", "recipientNo", "resultCode", "resultMessage"}
        assert set(sent["message"]) == {"requestId", "sendResults"}
        (listed,) = found["messageSearchResultResponse"]["messages"]
        (result,) = results["messageSearchResultResponse"]["messages"]
        assert listed["recipientGroupingKey"] == result["recipientGroupingKey"] == "key"
        assert (listed["senderGroupingKey"], result["resultCode"]) == ("group", "1000")
        assert result_code(undocumented) != 0

    asyncio.run(main())


def test_template_needs_all_its_variables() -> None:
    async def main() -> None:
        caller = Caller(relay_with_profile(ManualClock()))

        def call(code: str, *values: dict[str, str]) -> Json:
            recipients = [
                {"recipientNo": f"0101234567{n}", "targeting": "I", "templateParameter": each}
                for n, each in enumerate(values)
            ]
            return {"senderKey": KEY, "templateCode": code, "recipientList": recipients}

        unknown = await caller.brand("POST", "basic-messages", call("none", {}))
        mixed = await caller.brand("POST", "basic-messages", call("B1", {"name": "가"}, {}))

        assert result_code(unknown) == -3003
        assert [row["resultCode"] for row in mixed["message"]["sendResults"]] == [0, -3324]
        assert [each.content for each in caller.relay.messages] == ["가님"]

    asyncio.run(main())


def test_image_has_the_type_that_it_was_uploaded_as() -> None:
    async def main() -> None:
        caller = Caller(relay_with_profile(ManualClock()))
        file = {"image": ("a.jpg", JPEG, "image/jpeg")}

        untyped = await caller.brand("POST", "images", files=file)
        wide = await caller.brand("POST", "images", files=file, data={"imageType": "WIDE_IMAGE"})
        picture: dict[str, Any] = {"image": {"imageUrl": wide["image"]["imageUrl"]}}
        as_image = await caller.brand("POST", "freestyle-messages", body("IMAGE", **picture))
        as_wide = await caller.brand("POST", "freestyle-messages", body("WIDE", **picture))

        assert [result_code(each) for each in (untyped, as_image, as_wide)] == [-4000, -8001, 0]

    asyncio.run(main())
