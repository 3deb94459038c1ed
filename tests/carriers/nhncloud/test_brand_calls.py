"""Calls of brand messages: what they share, what each recipient has, and whose rows an answer has."""

from typing import Any

import pytest

from pabal.carriers.nhncloud.calls import ProductEndpoint, endpoint_of, group_into_calls, match_rows
from pabal.carriers.relay.kakao import as_sent, is_deliverable
from pabal.domain.brand.message import BrandAttachment, BrandMessage, BrandType, Coupon, Targeting
from pabal.domain.content.button import Button
from pabal.domain.sends.message import Attempt, Product
from tests.fixtures.nhncloud import SENDER_KEY, attempt

BRAND = BrandMessage(BrandType.TEXT)


def brand_attempt(number: int = 1, request: int = 1, **fields: Any) -> Attempt:
    given = {"product": Product.BRAND_MESSAGE, "sender_key": SENDER_KEY, "brand": BRAND, **fields}
    return attempt(number, request, **given)


@pytest.mark.parametrize("is_brand", [True, False])
@pytest.mark.parametrize("before", [None, BRAND])
def test_setting_of_the_relay_decides_how_its_friend_talk_goes_out(
    is_brand: bool, before: BrandMessage | None
) -> None:
    given = attempt(product=Product.FRIENDTALK_WIDE_IMAGE, brand=before)

    sent = as_sent(given, is_friend_talk_brand=is_brand)

    assert sent.brand == (BrandMessage(BrandType.WIDE) if is_brand else None)
    assert endpoint_of(sent) is (ProductEndpoint.BRAND if is_brand else ProductEndpoint.FRIENDTALK)


def test_other_messages_go_out_as_they_are() -> None:
    for given in (attempt(), brand_attempt(), attempt(product=Product.ALIMTALK)):
        assert as_sent(given, is_friend_talk_brand=True) is given
        assert is_deliverable(given)


def test_call_has_what_all_recipients_share_and_only_the_number_of_each() -> None:
    brand = BrandMessage(
        BrandType.TEXT,
        Targeting.CONSENTED,
        BrandAttachment(coupon=Coupon(title="배송비 할인 쿠폰", description="오늘만", link_mo="https://a.example")),
        "12",
    )
    button = Button("webLink", "열기", "https://a.example")
    shared: dict[str, Any] = {"brand": brand, "buttons": (button,), "opt_out_number": "0801234567"}

    (call,) = group_into_calls([brand_attempt(number, **shared) for number in (1, 2, 3)])
    body = call.body()

    assert call.path.endswith("/freestyle-messages")
    assert call.headers == {}
    assert [each.pop("recipientNo") for each in body["recipientList"]] == [f"0102{n:07}" for n in (1, 2, 3)]
    assert body.pop("recipientList") == [
        {
            "targeting": "M",
            "resendParameter": {"isResend": False},
            "recipientGroupingKey": each.message_id.hex(),
        }
        for each in call.attempts
    ]
    assert body == {
        "senderKey": SENDER_KEY,
        "chatBubbleType": "TEXT",
        "content": "안녕하세요",
        "buttons": [{"name": "열기", "type": "WL", "linkMo": "https://a.example"}],
        "coupon": {"title": "배송비 할인 쿠폰", "description": "오늘만", "linkMo": "https://a.example"},
        "unsubscribeNo": "0801234567",
        "unsubscribeAuthNo": "12",
        "senderGroupingKey": call.attempts[0].message_id[:13].hex(),
    }


def test_texts_that_differ_in_anything_do_not_share_a_call() -> None:
    others: list[dict[str, Any]] = [
        {"content": "다른 글"},
        {"buttons": (Button("messageDelivery", "전달"),)},
        {"brand": BrandMessage(BrandType.TEXT, Targeting.CONSENTED)},
        {"opt_out_number": "0801234567"},
        {"sender_key": "f" * 40},
    ]
    given = [brand_attempt(1), brand_attempt(2), *(brand_attempt(n, **more) for n, more in enumerate(others, 3))]

    assert sorted(len(call.attempts) for call in group_into_calls(given)) == [1] * len(others) + [2]


def test_values_of_a_template_share_a_call() -> None:
    brand = BrandMessage()
    given = [
        brand_attempt(n, brand=brand, template_code="B1", content="", parameters={"name": str(n)}) for n in (1, 2)
    ]

    (call,) = group_into_calls(given)
    body = call.body()

    assert call.path.endswith("/basic-messages")
    assert [each["templateParameter"] for each in body["recipientList"]] == [{"name": "1"}, {"name": "2"}]
    assert body["templateCode"] == "B1"
    assert "chatBubbleType" not in body


def _rows(*numbers: int) -> list[dict[str, Any]]:
    return [{"recipientSeq": number, "recipientNo": f"0102{number:07}", "resultCode": 0} for number in numbers]


@pytest.mark.parametrize("order", [(1, 2, 3), (3, 1, 2)])
def test_rows_are_matched_by_their_number(order: tuple[int, ...]) -> None:
    attempts = [brand_attempt(number) for number in (1, 2, 3)]

    matched = match_rows(attempts, _rows(*order))

    assert [matched[each.message_id.hex()]["recipientSeq"] for each in attempts] == [1, 2, 3]


@pytest.mark.parametrize(
    "rows",
    [
        [],
        _rows(1, 2),
        _rows(1, 2, 2),
        _rows(1, 2, 4),
        [*_rows(1, 2), {"recipientSeq": 3, "recipientNo": "01099999999"}],
        [*_rows(1, 2), {"recipientSeq": "x"}],
        _rows(1, 2, 3, 4),
    ],
)
def test_rows_that_cannot_be_told_apart_are_not_matched(rows: list[dict[str, Any]]) -> None:
    attempts = [brand_attempt(number) for number in (1, 2, 3)]

    with pytest.raises(ValueError, match=r"row|invalid literal"):
        match_rows(attempts, rows)
