"""The NHN Cloud client over real sockets: its errors, and no keys in them."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from pabal.carriers.nhncloud.client import (
    MAX_MESSAGE_CHARACTERS,
    ErrorResponse,
    NhnCloudClient,
    NoResponse,
    NotProcessed,
    Throttled,
)
from pabal.settings.field import BadSetting
from tests.fakes.nhncloud.server import FakeNhnCloud, serving
from tests.fixtures.certificates import AUTHORITY, TLS, server_context

pytestmark = pytest.mark.real_time

PATH = "/sms/v3.0/appKeys/{appkey}/blockservice/recipients"
SECRETS = ("smsAppKey0123456", "smsSecret")
Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def ask(client: NhnCloudClient, path: str = PATH, timeout_s: float = 10.0, **more: Any) -> dict[str, Any]:
    return await client.request("GET", path, timeout_s=timeout_s, **more)


@asynccontextmanager
async def calling(**changes: str) -> AsyncIterator[tuple[FakeNhnCloud, NhnCloudClient]]:
    """Run the fake server and a client of its SMS API."""
    async with serving() as relay:
        keys: dict[str, Any] = {
            "address": relay.address,
            "app_key": relay.sms_app_key,
            "secret_key": relay.sms_secret_key,
        } | changes
        client = NhnCloudClient(**keys, ca_file=AUTHORITY)
        try:
            yield relay, client
        finally:
            await client.close()


async def failure(client: NhnCloudClient, **more: Any) -> Exception:
    """Return the error of a call; check that it shows no secrets."""
    with pytest.raises((NotProcessed, NoResponse, Throttled, ErrorResponse)) as caught:
        await ask(client, **more)
    error = caught.value
    for shown in (str(error), repr(error), repr(error.args), repr(client), str(error.__cause__)):
        assert not any(secret in shown for secret in SECRETS), shown
    assert error.__cause__ is None
    return error


async def test_answer_is_returned_and_the_secret_is_sent() -> None:
    async with calling() as (relay, client):
        answer = await ask(client)
        assert answer["header"]["isSuccessful"] is True
        assert [(each.method, each.status, each.code) for each in relay.calls] == [("GET", 200, 0)]


async def test_refused_connection_is_unreachable() -> None:
    async with calling() as (relay, client):
        await relay.listener.stop()
        error = await failure(client)
        assert (type(error), str(error)) == (NotProcessed, "Connection refused")
        await relay.listener.listen()
        await ask(client)


async def test_first_of_several_addresses_counts() -> None:
    async with calling() as (relay, _):
        client = NhnCloudClient(f"http://localhost:{relay.listener.port}", *SECRETS, AUTHORITY)
        await relay.listener.stop()
        assert str(await failure(client)) == "Connection refused"
        await client.close()


async def test_unknown_host_is_unreachable() -> None:
    async with calling(address="https://nobody.invalid") as (_, client):
        error = await failure(client)
        assert isinstance(error, NotProcessed)
        assert "the connection failed" not in str(error)  # it is the resolver's own message


@pytest.mark.parametrize(
    ("kind", "more", "error", "words"),
    [
        ("lose request", {}, NoResponse, "the connection was closed"),
        ("lose answer", {}, NoResponse, "the connection was closed"),
        ("slow", {"seconds": 60}, NoResponse, "no response in time"),
        ("slow to accept", {"seconds": 60}, NoResponse, "no response in time"),
        ("throttle", {}, Throttled, ""),
        ("call quota", {}, Throttled, "the usage quota of calls is exceeded (HTTP 429)"),
        ("gateway 502", {}, NoResponse, "HTTP 502 (5020001 Upstream Bad Gateway (Connection reset by peer))"),
        ("gateway 503", {}, NoResponse, "HTTP 503 (5030001 Upstream Service Unavailable (CircuitBreaker is open))"),
        ("gateway 504", {}, NoResponse, "HTTP 504 (5040001)"),
        ("gateway 401", {}, NotProcessed, "HTTP 401 (4011001 Authorization is empty.)"),
        ("gateway 403", {}, NotProcessed, "HTTP 403 (4031007 Request IP not allowed)"),
        ("gateway 404", {}, NotProcessed, "HTTP 404 (4041007 URL Not Found)"),
        ("gateway 400", {}, ErrorResponse, "4000007 Bad Request (body)"),
        ("html 502", {}, NoResponse, "invalid response (HTTP 502)"),
        ("html 502 accepted", {}, NoResponse, "invalid response (HTTP 502)"),
        ("garbage", {}, NoResponse, "invalid response (HTTP 200)"),
        ("twice", {}, NoResponse, "invalid response (HTTP 200)"),
        ("system error", {}, ErrorResponse, "-9999 System error. Please inquire at support@toast.com."),
    ],
)
async def test_each_kind_of_failure_has_its_error(kind: str, more: dict[str, Any], error: type, words: str) -> None:
    async with calling() as (relay, client):
        await ask(client)  # connect, which may take longer than a call that must time out
        relay.inject_fault(kind, **more)
        found = await failure(client, timeout_s=0.5 if more else 10.0)
        assert (type(found), str(found)) == (error, words)
        await ask(client)


async def test_other_server_is_unreachable() -> None:
    async with calling() as (_, client):
        error = await failure(client, path="/elsewhere")
        assert (type(error), str(error)) == (NotProcessed, "HTTP 404")


@pytest.mark.parametrize(
    ("key", "words"), [("app_key", "-1000 Invalid appKey."), ("secret_key", "-1000 Invalid appKey.")]
)
async def test_wrong_key_is_an_error_response(key: str, words: str) -> None:
    async with calling(**{key: "wrong-and-secret"}) as (_, client):
        error = await failure(client)
        assert (type(error), str(error)) == (ErrorResponse, words)


@asynccontextmanager
async def answering(raw: bytes, context: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Answer every call with these bytes; return the port."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(raw)
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await server.wait_closed()


def whole(body: bytes, status: str = "200 OK") -> bytes:
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s" % (status.encode(), len(body), body)


@pytest.mark.parametrize(
    ("raw", "error"),
    [
        (whole(b"[]"), NoResponse),
        (whole(b'{"header": null}'), NoResponse),
        (whole(b'{"header": []}'), NoResponse),
        (whole(b'{"header": {"isSuccessful": true}}'), NoResponse),
        (whole(b'{"header": {"isSuccessful": true, "resultCode": "x"}}'), NoResponse),
        (whole(b"\xff\xfe"), NoResponse),
        (whole(b"", "204 No Content"), NoResponse),
        (whole(b"moved", "302 Found"), NoResponse),
        (whole(b"no", "403 Forbidden"), NotProcessed),
        (whole(b"later", "503 Service Unavailable"), NoResponse),
        (whole(b'{"header": {"isSuccessful": true, "resultCode": 0}}', "502 Bad Gateway"), NoResponse),
        (whole(b'{"header": {"isSuccessful": false, "resultCode": -1000}}', "403 Forbidden"), ErrorResponse),
        (whole(b"", "413 Request Entity Too Large"), ErrorResponse),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", NoResponse),
        (b"SSH-2.0-OpenSSH_9.2\r\n", NoResponse),
        (b"", NoResponse),
    ],
)
async def test_any_response_is_an_answer_or_a_known_error(raw: bytes, error: type) -> None:
    async with answering(raw) as port:
        client = NhnCloudClient(f"http://127.0.0.1:{port}", *SECRETS, AUTHORITY)
        assert type(await failure(client)) is error
        await client.close()


async def test_error_message_is_one_short_line_without_keys() -> None:
    message = f"Unknown {SECRETS[0]} with\\n{SECRETS[1]} " + "x" * 1000
    body = b'{"header": {"isSuccessful": false, "resultCode": -1, "resultMessage": "%s"}}' % message.encode()
    async with answering(whole(body)) as port:
        client = NhnCloudClient(f"http://127.0.0.1:{port}", *SECRETS, AUTHORITY)
        error = await failure(client)
        assert isinstance(error, ErrorResponse)
        assert error.message.startswith("Unknown … with … xxx")
        assert len(error.message) == MAX_MESSAGE_CHARACTERS
        await client.close()


@pytest.mark.parametrize(
    ("host", "authority", "words"),
    [
        ("localhost", "stranger.pem", "TLS: unable to get local issuer certificate"),
        ("127.0.0.1", "authority.pem", "TLS: IP address mismatch"),
    ],
)
async def test_untrusted_certificate_is_described(host: str, authority: str, words: str) -> None:
    async with answering(whole(b""), server_context()) as port:
        client = NhnCloudClient(f"https://{host}:{port}", *SECRETS, TLS / authority)
        error = await failure(client)
        assert isinstance(error, NotProcessed)
        assert str(error).startswith(words)
        await client.close()


def test_unreadable_ca_file_is_refused_at_start(tmp_path: Path) -> None:
    (tmp_path / "empty.pem").write_text("nothing")

    for name in ("absent.pem", "empty.pem"):
        with pytest.raises(BadSetting, match=r"^tls_ca: cannot be read"):
            NhnCloudClient("https://api.example", *SECRETS, tmp_path / name)
