"""Bodies: JSON, content types and size limits."""

import json

import pytest

from tests.fixtures.cases import with_each
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import call_raw, sms_body, summarize_refusal

SEND_SMS = "/api/message/sendSMS.v1.0"


def _make_nested(depth: int) -> bytes:
    return b'{"receivers": ' + b"[" * depth + b"]" * depth + b"}"


@with_each(
    "body",
    [
        b"{",
        b"}",
        b"[]",
        b"[{}]",
        b'"content"',
        b"1",
        b"null",
        b"true",
        b" ",
        b"{} {}",
        b"{'content': 'x'}",
        b'{"content": "x",}',
        b'{"content": NaN}',
        b'{"content": "x", "extra": NaN}',
        b'{"extra": Infinity}',
        b'{"extra": -Infinity}',
        b'{"extra": 01}',
        b'{"content": "\x00"}',
        b'{"content": "a\nb"}',
        b'{"content": "\xff"}',
        b'{"content": "\xed\xa0\x80"}',
        b'{"content": "\\x"}',
        b'{"extra": ' + b"9" * 5000 + b"}",
        '{"content": "안녕"}'.encode("euc-kr"),
        '{"content": "x"}'.encode("utf-16"),
        b"\xef\xbb\xbf{}",
        b"content=x",
        b"<xml/>",
        b"\x00" * 100,
        _make_nested(100_000),
        b'{"extra": ' + b'{"a":' * 40_000 + b"1" + b"}" * 40_000 + b"}",
    ],
)
async def test_body_that_is_not_a_json_object_is_refused(call: Caller, body: bytes) -> None:
    answers = [await call(operation, body) for operation in ("message/sendSMS", "message/list")]

    assert [answer.result for answer in answers] == ["INVALID_JSON"] * 2
    assert [answer.status for answer in answers] == [400, 400]


@pytest.mark.parametrize(
    ("body", "headers", "advice"),
    [
        (b"\xef\xbb\xbf{}", {}, "It begins with a byte order mark"),
        (b"\xef\xbb\xbf{" + b" " * 300_000 + b"}", {}, "It begins with a byte order mark"),
        (b"{}", {"content-type": "application/json; charset=euc-kr"}, "Encode the body as UTF-8"),
        (b"{}", {"content-type": "text/plain"}, "Send application/json"),
        ('{"content": "안녕"}'.encode("euc-kr"), {}, "send UTF-8"),
    ],
)
async def test_refusal_of_an_encoding_says_which_to_use(
    env: Environment, body: bytes, headers: dict[str, str], advice: str
) -> None:
    answer = await (await env.caller(language="en"))("message/sendSMS", body, headers=headers)

    assert advice in answer.body["resultMessage"]


async def test_empty_body_is_an_empty_object(call: Caller) -> None:
    empty = await call("message/sendSMS", b"", headers={"content-type": "text/plain"})
    braces = await call("message/sendSMS", b" {} ")

    assert summarize_refusal(empty) == summarize_refusal(braces)
    assert list(summarize_refusal(empty).errors) == ["content", "sender", "receivers"]


@pytest.mark.parametrize(
    "body",
    [
        b'{"page": 1, "page": 2, "receivers": "010-1234-5678"}',
        _make_nested(200),
        b'{"receivers": {"a": {"b": []}}}',
    ],
)
async def test_unusual_but_valid_bodies_are_answered(call: Caller, body: bytes) -> None:
    listed, sent = await call("message/list", body), await call("message/sendSMS", body)

    assert listed.result in ("SUCCESS", "INVALID_PARAMETER")
    assert sent.result == "MISSING_PARAMETER"


@with_each(
    ("content_type", "is_read"),
    [
        ("application/json", True),
        ("application/json;charset=UTF-8", True),
        ("application/json; charset=utf-8", True),
        ('application/json; charset="UTF-8"', True),
        ("APPLICATION/JSON", True),
        ("application/json;", True),
        ("application/json; charset=utf-8; profile=x", True),
        ("application/json; profile=x; charset=utf-8", True),
        ("", True),
        ("application/json; charset=euc-kr", False),
        ("application/json; profile=x; charset=euc-kr", False),
        ("application/json; charset=", False),
        ("application/json, application/json", False),
        ("application/jsonp", False),
        ("application/x-www-form-urlencoded", False),
        ("multipart/form-data; boundary=x", False),
        ("text/plain", False),
        ("text/json", False),
        ("json", False),
        ("caf\u00e9", False),
    ],
)
async def test_body_is_json_in_utf_8(call: Caller, content_type: str, is_read: bool) -> None:
    answer = await call("message/sendSMS", sms_body(), headers={"content-type": content_type})

    assert answer.result == ("SUCCESS" if is_read else "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.parametrize(
    ("types", "result"),
    [
        (["application/json", "application/json"], "SUCCESS"),
        (["application/json", "text/plain"], "UNSUPPORTED_MEDIA_TYPE"),
        (["text/plain", "application/json"], "SUCCESS"),
    ],
)
async def test_last_of_two_content_types_applies(
    env: Environment, call: Caller, types: list[str], result: str
) -> None:
    headers = [("apiKey", str(call.key)), *(("Content-Type", each) for each in types)]

    answer, _ = await call_raw(env, SEND_SMS, headers=headers, chunks=[json.dumps(sms_body()).encode()])

    assert answer.result == result


@pytest.mark.parametrize("operation", ["message/list", "message/sendSMS", "sender/categories"])
async def test_form_body_is_accepted_by_the_message_list_only(call: Caller, operation: str) -> None:
    headers = {"content-type": "application/x-www-form-urlencoded; charset=UTF-8"}

    answer = await call(operation, b"receivers=010-1234-5678", headers=headers)

    assert answer.result == ("SUCCESS" if operation == "message/list" else "UNSUPPORTED_MEDIA_TYPE")


@pytest.mark.settings(max_body_bytes=1024)
async def test_body_with_too_large_content_length_is_refused_unread(env: Environment) -> None:
    headers = [("Content-Length", "1025")]

    answer, read = await call_raw(env, SEND_SMS, headers=headers, chunks=[b" " * 1025])

    assert (answer.result, answer.status) == ("PAYLOAD_TOO_LARGE", 413)
    assert read == 0
    assert "1,024" in answer.body["resultMessage"]


@pytest.mark.settings(max_body_bytes=1024)
async def test_body_without_length_is_refused_once_it_exceeds_the_limit(env: Environment) -> None:
    answer, read = await call_raw(env, SEND_SMS, chunks=[b" " * 100] * 1000)

    assert answer.result == "PAYLOAD_TOO_LARGE"
    assert read == 11


@pytest.mark.parametrize("has_length", [True, False])
@pytest.mark.settings(max_body_bytes=1024)
async def test_body_at_the_size_limit_is_read_with_and_without_length(
    env: Environment, call: Caller, has_length: bool
) -> None:
    body = json.dumps(sms_body()).encode().ljust(1024)
    headers = [("apiKey", str(call.key)), *([("Content-Length", "1024")] if has_length else [])]

    whole, _ = await call_raw(env, SEND_SMS, headers=headers, chunks=[body])
    pieces, _ = await call_raw(env, SEND_SMS, headers=headers, chunks=[body[:10], b"", body[10:1000], body[1000:]])
    over, _ = await call_raw(env, SEND_SMS, headers=headers, chunks=[body[:1000], body[1000:] + b" "])

    assert [whole.result, pieces.result, over.result] == ["SUCCESS", "SUCCESS", "PAYLOAD_TOO_LARGE"]


async def test_without_a_key_a_body_of_known_length_is_not_read(env: Environment) -> None:
    answer, read = await call_raw(env, SEND_SMS, headers=[("Content-Length", "5")], chunks=[b"x" * 5])

    assert (answer.result, read) == ("UNAUTHORIZED", 0)


@pytest.mark.parametrize(
    ("body", "position"),
    [(b'{"page": 1,\n "pageSize": ?}', "line 2, column 14"), (b'{"page": "\xff"}', "Byte 11")],
)
async def test_invalid_json_is_reported_with_its_position(env: Environment, body: bytes, position: str) -> None:
    call = await env.caller(language="en")

    answer = await call("message/list", body)

    assert answer.result == "INVALID_JSON"
    assert position in answer.body["resultMessage"]
