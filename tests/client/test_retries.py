"""The client repeats a call only where that is safe, and then with the same key and bytes."""

import asyncio
import socket
from typing import Any

import pytest

from pabal.client import (
    NO_RETRIES,
    ApiError,
    AsyncClient,
    Client,
    CreateWebhook,
    ListSenders,
    NoAnswerError,
    ReceiverBody,
    Retries,
    SendSms,
    errors,
)
from tests.fixtures.scripted_service import LOST, ScriptedAnswer, ScriptedService, refuse, succeed

QUICK = Retries(attempts=3, first_delay_s=0.0)
SMS = SendSms(content="안녕", sender="02-1234-5678", receivers=[ReceiverBody(phoneNumber="010-1234-5678")])
WEBHOOK = CreateWebhook(url="https://shop.example", events=["message.result"])
ACCEPTED = succeed(item={"requestId": "r1"})
CREATED = succeed(item={"webhookId": "1", "secret": "whsec_eA=="})
NO_SENDERS = succeed(totalCount=0, resultCount=0, pageSize=10, pageCount=0, currentPage=1, items=[])
BAD_GATEWAY = ScriptedAnswer(502, b"<html>Bad Gateway</html>")
AWAY = refuse("SERVICE_UNAVAILABLE", 503, retry_after="0")
BUSY = refuse("RATE_LIMITED", 429, retry_after="0")
BROKEN = refuse("INTERNAL_ERROR", 500)


def _client(scripted: ScriptedService, retries: Retries = QUICK) -> Client:
    return Client(scripted.base_url, "pb_key", retries=retries)


@pytest.mark.parametrize(
    "trouble", [LOST, AWAY, BUSY, BROKEN, BAD_GATEWAY], ids=["lost", "503", "429", "500", "502"]
)
def test_send_is_repeated_with_the_same_key_and_bytes(scripted: ScriptedService, trouble: ScriptedAnswer) -> None:
    scripted.answers = [trouble, trouble, ACCEPTED]

    with _client(scripted) as client:
        answer = client.send_sms(SMS)

    assert answer.request_id == "r1"
    keys = {each.headers["idempotency-key"] for each in scripted.seen}
    assert len(scripted.seen) == 3
    assert len(keys) == len({each.body for each in scripted.seen}) == 1
    assert all(len(each) == 32 for each in keys)


def test_each_send_has_a_key_of_its_own_unless_the_caller_gives_one(scripted: ScriptedService) -> None:
    scripted.answers = [ACCEPTED]

    with _client(scripted) as client:
        for key in (None, None, "order-1"):
            client.send_sms(SMS, idempotency_key=key)

    first, second, third = [each.headers["idempotency-key"] for each in scripted.seen]
    assert first != second
    assert third == "order-1"


def test_dry_run_carries_no_key(scripted: ScriptedService) -> None:
    scripted.answers = [succeed(item={"wouldAccept": True, "receivers": []})]

    with _client(scripted) as client:
        answer = client.send_sms(SMS, dry_run=True)

    assert answer.item.wouldAccept is True
    assert answer.request_id == ""
    assert scripted.seen[0].headers["dry-run"] == "true"
    assert "idempotency-key" not in scripted.seen[0].headers


@pytest.mark.parametrize("trouble", [LOST, BAD_GATEWAY], ids=["lost", "502"])
def test_read_is_repeated(scripted: ScriptedService, trouble: ScriptedAnswer) -> None:
    scripted.answers = [trouble, NO_SENDERS]

    with _client(scripted) as client:
        assert client.list_senders(ListSenders(channelId="@shop", page=2)).items == []

    assert [each.path for each in scripted.seen] == ["/api/sender/list.v1.0?channelId=%40shop&page=2"] * 2


@pytest.mark.parametrize("trouble", [LOST, AWAY, BROKEN, BAD_GATEWAY], ids=["lost", "503", "500", "502"])
def test_change_that_may_have_been_made_is_not_repeated(scripted: ScriptedService, trouble: ScriptedAnswer) -> None:
    scripted.answers = [trouble, CREATED]

    with _client(scripted) as client, pytest.raises((NoAnswerError, errors.TemporaryError)) as raised:
        client.create_webhook(WEBHOOK)

    assert len(scripted.seen) == 1
    assert getattr(raised.value, "was_sent", True)


def test_change_that_was_refused_for_its_rate_is_repeated(scripted: ScriptedService) -> None:
    scripted.answers = [BUSY, CREATED]

    with _client(scripted) as client:
        assert client.create_webhook(WEBHOOK).item.webhookId == "1"


def test_change_is_repeated_if_nothing_was_sent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    tried: list[str] = []

    with Client(f"http://127.0.0.1:{port}", "pb_key", retries=QUICK) as client:
        client._http.event_hooks = {"request": [lambda request: tried.append(request.url.path)], "response": []}
        with pytest.raises(NoAnswerError) as raised:
            client.create_webhook(WEBHOOK)

    assert not raised.value.was_sent
    assert len(tried) == QUICK.attempts


def test_wait_that_is_too_long_is_raised_at_once(scripted: ScriptedService) -> None:
    scripted.answers = [refuse("RATE_LIMITED", 429, retry_after="3600")]

    with _client(scripted) as client, pytest.raises(errors.RateLimitedError) as raised:
        client.send_sms(SMS)

    assert raised.value.retry_after_s == 3600
    assert len(scripted.seen) == 1


def test_tries_are_limited(scripted: ScriptedService) -> None:
    scripted.answers = [AWAY]

    with _client(scripted, NO_RETRIES) as client, pytest.raises(errors.ServiceUnavailableError):
        client.send_sms(SMS)
    with _client(scripted, QUICK) as client, pytest.raises(errors.ServiceUnavailableError):
        client.send_sms(SMS)

    assert len(scripted.seen) == 1 + QUICK.attempts


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "INVALID_PHONE_NUMBER", errors.InvalidPhoneNumberError),
        (200, "INVALID_PHONE_NUMBER", errors.InvalidPhoneNumberError),  # of a service with `always_ok`
        (404, "WEBHOOK_NOT_FOUND", errors.NotFoundError),
        (400, "OF_TOMORROW", errors.InvalidRequestError),
        (422, "OF_TOMORROW", errors.NotPossibleError),
        (418, "OF_TOMORROW", errors.ApiError),
    ],
)
def test_refusal_raises_the_exception_of_its_code(
    scripted: ScriptedService, status: int, code: str, kind: type[ApiError]
) -> None:
    scripted.answers = [refuse(code, status)]

    with _client(scripted) as client, pytest.raises(kind) as raised:
        client.send_sms(SMS)

    assert (raised.value.result, raised.value.status) == (code, status)
    assert "안 됩니다." in str(raised.value)
    assert len(scripted.seen) == 1


@pytest.mark.parametrize(
    "answer",
    [ScriptedAnswer(200, b"<html>"), ScriptedAnswer(302, b""), succeed(item=1)],
    ids=["html", "302", "shape"],
)
def test_answer_that_cannot_be_read_is_no_answer(scripted: ScriptedService, answer: ScriptedAnswer) -> None:
    scripted.answers = [answer]

    with _client(scripted) as client, pytest.raises(NoAnswerError) as raised:
        client.send_sms(SMS)

    assert raised.value.was_sent


def test_unknown_fields_of_a_newer_service_are_ignored(scripted: ScriptedService) -> None:
    scripted.answers = [succeed(item={"requestId": "r1", "ofTomorrow": [1]}, ofTomorrow=None)]

    with _client(scripted) as client:
        assert client.send_sms(SMS).request_id == "r1"


def test_asynchronous_client_repeats_as_the_synchronous_one(scripted: ScriptedService) -> None:
    scripted.answers = [LOST, AWAY, ACCEPTED]

    async def send() -> Any:
        async with AsyncClient(scripted.base_url, "pb_key", retries=QUICK) as client:
            return await client.send_sms(SMS)

    assert asyncio.run(send()).request_id == "r1"
    assert len({each.headers["idempotency-key"] for each in scripted.seen}) == 1
