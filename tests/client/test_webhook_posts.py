"""The client accepts the posts that the service signs, and no others."""

import json
from datetime import UTC, datetime

import pytest
import standardwebhooks

from pabal.client import InvalidPostError, read_post
from pabal.domain.events.event import EventType
from pabal.models.webhook_posts import POSTS, MessageResultPost, OtherPost
from pabal.web.api_document.example_answers import post_example
from pabal.webhooks.poster import format_secret, sign

NOW_S = 1_794_711_603
SECRET, OTHER = b"s" * 32, b"o" * 32
BODY = json.dumps(post_example(EventType.MESSAGE_RESULT)).encode()


def _headers(*secrets: bytes, body: bytes = BODY, at_s: int = NOW_S) -> dict[str, str]:
    return sign(secrets or (SECRET,), "msg_1", at_s * 1000, body)


def test_post_of_the_service_is_read() -> None:
    post = read_post(format_secret(SECRET), _headers(), BODY, now_s=NOW_S)

    assert isinstance(post, MessageResultPost)
    assert post.data.items[0].sendingStatus.value == "completed"
    assert post.data.items[0].eventId.startswith("evt_")


def test_post_that_the_published_library_signs_is_read() -> None:
    at = datetime.fromtimestamp(NOW_S, UTC)
    signature = standardwebhooks.Webhook(format_secret(SECRET)).sign("msg_1", at, BODY.decode())
    headers = {"Webhook-Id": "msg_1", "Webhook-Timestamp": str(NOW_S), "Webhook-Signature": signature}

    assert isinstance(read_post(format_secret(SECRET), headers, BODY, now_s=NOW_S), MessageResultPost)


def test_each_secret_is_enough_while_it_is_replaced() -> None:
    both = _headers(OTHER, SECRET)

    posts = [
        read_post(format_secret(SECRET), both, BODY, now_s=NOW_S),
        read_post(format_secret(OTHER), both, BODY, now_s=NOW_S),
        read_post([format_secret(OTHER), format_secret(SECRET)], _headers(SECRET), BODY, now_s=NOW_S),
    ]

    assert all(isinstance(post, MessageResultPost) for post in posts)


@pytest.mark.parametrize("secrets", ["", "whsec_", [format_secret(OTHER), ""]])
def test_empty_secret_is_none_that_anybody_could_sign_with(secrets: str | list[str]) -> None:
    with pytest.raises(ValueError, match="empty"):
        read_post(secrets, _headers(b""), BODY, now_s=NOW_S)


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        (_headers(OTHER), BODY),
        (_headers(), BODY.replace(b"010-1234-5678", b"010-1234-5679")),
        ({**_headers(), "webhook-id": "msg_2"}, BODY),
        ({**_headers(), "webhook-timestamp": str(NOW_S + 1)}, BODY),
        ({**_headers(), "webhook-timestamp": "soon"}, BODY),
        ({**_headers(), "webhook-timestamp": "9" * 5000}, BODY),
        ({**_headers(), "webhook-id": "msg_\udce9"}, BODY),
        ({**_headers(), "webhook-signature": ""}, BODY),
        ({**_headers(), "webhook-signature": "v1,가"}, BODY),
        ({}, BODY),
        (_headers(at_s=NOW_S - 301), BODY),
        (_headers(at_s=NOW_S + 301), BODY),
        (_headers(body=b"[]"), b"[]"),
        (_headers(body=b"\xff"), b"\xff"),
    ],
)
def test_post_that_is_not_of_the_service_is_refused(headers: dict[str, str], body: bytes) -> None:
    with pytest.raises(InvalidPostError):
        read_post(format_secret(SECRET), headers, body, now_s=NOW_S)


def test_wrong_secret_is_told() -> None:
    with pytest.raises(ValueError, match=r"[Bb]ase64|padding|characters"):
        read_post("whsec_?", _headers(), BODY, now_s=NOW_S)


@pytest.mark.parametrize("event", POSTS, ids=lambda event: event.code)
def test_every_event_has_a_type(event: EventType) -> None:
    body = json.dumps(post_example(event)).encode()

    assert type(read_post(format_secret(SECRET), _headers(body=body), body, now_s=NOW_S)) is POSTS[event]


def test_event_of_a_newer_service_is_read_all_the_same() -> None:
    body = (
        b'{"type":"moon.full","timestamp":"2026-11-15T12:00:00.000+09:00","data":{"items":[{"eventId":"evt_1"}]}}'
    )

    post = read_post(format_secret(SECRET), _headers(body=body), body, now_s=NOW_S)

    assert isinstance(post, OtherPost)
    assert (post.type, post.data) == ("moon.full", {"items": [{"eventId": "evt_1"}]})
