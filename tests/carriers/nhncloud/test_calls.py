"""How messages are grouped into calls to NHN Cloud, and the bodies of these calls."""

from typing import Any

import pytest

from pabal.carriers.nhncloud.calls import (
    IDEMPOTENCY_HEADER,
    MAX_RECIPIENTS,
    MAX_TITLE_BYTES,
    ProductEndpoint,
    SendCall,
    group_into_calls,
)
from pabal.domain.content.button import Button
from pabal.domain.sends.message import Attempt, Product
from tests.fixtures.nhncloud import attempt as message

SENDER, KEY = "0212345678", "5e" * 20


def alimtalk(number: int = 1, request: int = 1, **fields: Any) -> Attempt:
    talk = {"product": Product.ALIMTALK, "sender_key": KEY, "template_code": "T1", "sender": ""}
    return message(number, request, **talk | {"content": f"{number}번"} | fields)


def friendtalk(number: int = 1, request: int = 1, **fields: Any) -> Attempt:
    return alimtalk(number, request, **{"product": Product.FRIENDTALK_TEXT, "template_code": None} | fields)


def only(*attempts: Attempt) -> SendCall:
    (call,) = group_into_calls(attempts)
    return call


def sizes(attempts: list[Attempt]) -> list[int]:
    return [len(call.attempts) for call in group_into_calls(attempts)]


def name(attempt: Attempt) -> str:
    return attempt.message_id.hex()


# Grouping.


@pytest.mark.parametrize("make", [message, alimtalk, friendtalk])
@pytest.mark.parametrize(
    ("count", "expected"), [(1, [1]), (1000, [1000]), (1001, [1000, 1]), (2500, [1000, 1000, 500])]
)
def test_call_has_at_most_a_thousand_recipients(make: Any, count: int, expected: list[int]) -> None:
    assert sizes([make(number) for number in range(1, count + 1)]) == expected
    assert MAX_RECIPIENTS == 1000


def test_every_message_is_in_one_call_in_order() -> None:
    attempts = [make(number, request) for request in range(1, 5) for number in range(1, 9) for make in (message,)]
    attempts += [alimtalk(number, request) for request in range(5, 9) for number in range(1, 9)]

    calls = group_into_calls(attempts)

    assert sorted(each.message_id for call in calls for each in call.attempts) == [
        each.message_id for each in attempts
    ]
    assert all(call.attempts == sorted(call.attempts, key=lambda each: each.message_id) for call in calls)


def test_personal_texts_go_one_by_one_and_personal_talks_together() -> None:
    texts = [message(number, content=f"{number}번") for number in range(1, 21)]
    talks = [alimtalk(number) for number in range(1, 21)]

    assert (sizes(texts), sizes(talks)) == ([1] * 20, [20])


@pytest.mark.parametrize(
    "change",
    [
        {"sender": "0215880000"},
        {"subject": "제목"},
        {"content": "다른 글"},
        {"is_ad": True},
        {"product": Product.LMS},
    ],
)
def test_texts_with_different_shared_fields_go_apart(change: dict[str, Any]) -> None:
    assert sizes([message(1), message(2, **change), message(3)]) == [2, 1]


@pytest.mark.parametrize("change", [{"sender_key": "6f" * 20}, {"template_code": "T2"}])
def test_talks_of_another_profile_or_template_go_apart(change: dict[str, Any]) -> None:
    assert sizes([alimtalk(1), alimtalk(2, **change), alimtalk(3)]) == [2, 1]


def test_requests_share_a_call_only_with_one_message_each() -> None:
    single = [alimtalk(1, request) for request in range(1, 11)]
    several = [alimtalk(number, request) for request in (20, 21) for number in (1, 2, 3)]

    calls = group_into_calls([*single, *several])

    assert [len(call.attempts) for call in calls] == [10, 3, 3]
    assert [call.body().get("senderGroupingKey") for call in calls] == [
        None,
        (20).to_bytes(13, "big").hex(),
        (21).to_bytes(13, "big").hex(),
    ]


def test_images_of_different_requests_go_apart() -> None:
    mms = [
        message(1, request, product=Product.MMS, image_request_id=request.to_bytes(13, "big")) for request in (1, 2)
    ]

    assert sizes(mms) == [1, 1]


# Bodies.


def test_sms_body() -> None:
    one, two = message(1), message(2)
    call = only(one, two)

    assert (call.endpoint, call.path, call.headers) == (
        ProductEndpoint.SMS,
        "/sms/v3.0/appKeys/{appkey}/sender/sms",
        {},
    )
    assert call.body() == {
        "body": "안녕하세요",
        "sendNo": SENDER,
        "senderGroupingKey": "01".zfill(26),
        "recipientList": [
            {"recipientNo": one.receiver, "recipientGroupingKey": name(one)},
            {"recipientNo": two.receiver, "recipientGroupingKey": name(two)},
        ],
    }


def test_mms_names_its_image() -> None:
    one = message(product=Product.MMS, subject="사진", image_request_id=b"1")
    call = only(one)

    assert (call.endpoint, call.path) == (ProductEndpoint.MMS, "/sms/v3.0/appKeys/{appkey}/sender/mms")
    assert call.body([4711]) == {
        "body": "안녕하세요",
        "sendNo": SENDER,
        "title": "사진",
        "attachFileIdList": [4711],
        "senderGroupingKey": "01".zfill(26),
        "recipientList": [{"recipientNo": one.receiver, "recipientGroupingKey": name(one)}],
    }


def test_alimtalk_body() -> None:
    button = Button("webLink", "열기", mobile_url="https://shop.example")
    one = alimtalk(subject="제목", buttons=(button,))
    call = only(one)

    assert (call.endpoint, call.path) == (ProductEndpoint.ALIMTALK, "/alimtalk/v2.3/appkeys/{appkey}/raw-messages")
    assert call.body() == {
        "senderKey": KEY,
        "templateCode": "T1",
        "senderGroupingKey": "01".zfill(26),
        "recipientList": [
            {
                "recipientNo": one.receiver,
                "content": "1번",
                "resendParameter": {"isResend": False},
                "recipientGroupingKey": name(one),
                "buttons": [{"ordering": 1, "type": "WL", "name": "열기", "linkMo": "https://shop.example"}],
                "templateTitle": "제목",
            }
        ],
    }
    assert set(call.headers) == {IDEMPOTENCY_HEADER}


def test_friendtalk_body() -> None:
    one = friendtalk(image_request_id=b"1", image_link="https://shop.example", is_ad=True)
    call = only(one)

    assert (call.endpoint, call.path) == (ProductEndpoint.FRIENDTALK, "/friendtalk/v2.4/appkeys/{appkey}/messages")
    assert call.body(["https://relay.example/1.jpg"]) == {
        "senderKey": KEY,
        "senderGroupingKey": "01".zfill(26),
        "recipientList": [
            {
                "recipientNo": one.receiver,
                "content": "1번",
                "resendParameter": {"isResend": False},
                "recipientGroupingKey": name(one),
                "isAd": True,
                "imageUrl": "https://relay.example/1.jpg",
                "imageLink": "https://shop.example",
            }
        ],
    }
    assert call.headers["X-Convert-To-Brand-Message"] == "true"


def test_idempotency_key_identifies_the_attempts() -> None:
    calls = [
        only(alimtalk(1), alimtalk(2)),
        only(alimtalk(1)),
        only(alimtalk(1), alimtalk(2)._replace(number=2)),
        only(alimtalk(2), alimtalk(1)),
        *only(alimtalk(1), alimtalk(2)).halves(),
    ]

    keys = [call.headers[IDEMPOTENCY_HEADER] for call in calls]

    assert len(set(keys)) == len(keys) - 1, "one of the halves is the second call"
    assert keys[0] == only(alimtalk(1), alimtalk(2)).headers[IDEMPOTENCY_HEADER]


@pytest.mark.parametrize("count", [2, 3, 1000])
def test_halves_contain_all_messages_once(count: int) -> None:
    call = only(*(alimtalk(number) for number in range(1, count + 1)))

    left, right = call.halves()

    assert left.attempts + right.attempts == call.attempts
    assert left.attempts
    assert right.attempts
    assert (left.path, left.shared, right.endpoint) == (call.path, call.shared, call.endpoint)


# Titles and advertisements.


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("짧은 글", "짧은 글"),
        ("첫 줄\n둘째 줄", "첫 줄"),
        ("\n\n  첫 줄\n둘째 줄", "첫 줄"),
        ("가" * 21, "가" * 20),
        ("a" + "가" * 20, "a" + "가" * 19),
        ("a" * 41, "a" * 40),
        ("", "MMS"),
        (" \n ", "MMS"),
    ],
)
def test_text_without_a_subject_gets_a_title_that_fits(content: str, title: str) -> None:
    body = only(message(product=Product.LMS, content=content)).body()

    assert body["title"] == title
    assert len(title.encode("cp949")) <= MAX_TITLE_BYTES
    assert only(message(product=Product.LMS, content=content, subject="제목")).body()["title"] == "제목"


@pytest.mark.parametrize(("product", "path"), [(Product.SMS, "ad-sms"), (Product.LMS, "ad-mms")])
@pytest.mark.parametrize("number", ["0801234567", "080-123-4567"])
def test_advertisement_is_sent_unchanged_to_its_endpoint(product: Product, path: str, number: str) -> None:
    content = f"(광고)새 소식\n무료거부 {number}"
    one = message(product=product, is_ad=True, content=content)

    assert only(one).path.endswith(f"/sender/{path}")
    assert only(one).body()["body"] == content


@pytest.mark.parametrize("content", ["[광고]새 소식\n무료거부 0801234567", "(광고)새 소식", "(광고)무료거부 080"])
def test_text_without_the_marks_of_an_advertisement_is_sent_as_any_other(content: str) -> None:
    one = message(is_ad=True, content=content)

    assert only(one).path.endswith("/sender/sms")
    assert only(one).body()["body"] == content
