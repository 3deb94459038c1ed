"""The client of webhooks over real sockets and real TLS: what it sends, and what it makes of answers."""

import asyncio
import gzip
import socket
from pathlib import Path
from typing import Any

import pytest

from pabal.outbound.calls import NOT_TLS
from pabal.settings.field import BadSetting
from pabal.settings.webhook_settings import AllowedEndpoint
from pabal.webhooks.client import READ_BYTES, WebhookClient
from pabal.webhooks.permitted_addresses import AddressRules
from pabal.webhooks.poster import ANSWER_BYTES, PostError, PostResult
from pabal.world import RealWorld
from tests.fixtures.certificates import AUTHORITY, TLS
from tests.fixtures.webhooks import (
    ACCOUNT,
    LocalResolver,
    TlsServer,
    http_answer,
    local_rules,
    posting,
    read_request,
    serving_tls,
)

BODY = b'{"type":"webhook.test"}'
pytestmark = pytest.mark.real_time

HEADERS = {"webhook-id": "msg_1"}


async def post(client: WebhookClient, server: TlsServer, account: str = ACCOUNT) -> PostResult:
    return await client.post(f"https://localhost:{server.port}/hook?a=1", account, HEADERS, BODY)


async def post_to(answer: bytes, **options: Any) -> PostResult:
    async with serving_tls(answer) as server, posting(**options) as client:
        return await post(client, server)


async def test_post_is_sent_with_its_headers_and_body() -> None:
    async with serving_tls(http_answer(b"thanks", "202 Accepted")) as server, posting() as client:
        found = await post(client, server)

    assert (found.status, found.answer, found.error, found.is_success) == (202, b"thanks", None, True)
    assert found.duration_ms >= 0
    head, body = server.requests[0]
    lines = head.decode().lower().split("\r\n")
    assert lines[0] == "post /hook?a=1 http/1.1"
    assert body == BODY
    assert {
        f"host: localhost:{server.port}",
        "content-type: application/json",
        "webhook-id: msg_1",
        "accept-encoding: identity",
    } <= set(lines)


@pytest.mark.parametrize(
    ("status", "is_success"),
    [
        ("204 No Content", True),
        ("299 Fine", True),
        ("301 Moved Permanently", False),
        ("400 Bad Request", False),
        ("410 Gone", False),
        ("500 Internal Server Error", False),
    ],
)
async def test_any_2xx_is_success_and_nothing_else(status: str, is_success: bool) -> None:
    found = await post_to(http_answer(status=status))

    assert found.status == int(status[:3])
    assert found.is_success is is_success


async def test_redirect_is_not_followed() -> None:
    async with serving_tls() as target:
        moved = http_answer(status="307 Moved", headers=b"Location: https://localhost:%d/\r\n" % target.port)
        found = await post_to(moved)

    assert (found.status, target.connections) == (307, 0)


async def test_only_the_first_kilobyte_of_an_answer_is_kept() -> None:
    found = await post_to(http_answer(b"x" * 5000))

    assert found.answer == b"x" * ANSWER_BYTES


async def test_endless_answer_is_read_up_to_a_limit() -> None:
    was_closed = asyncio.Event()

    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        try:
            while True:
                writer.write(b"1000\r\n%s\r\n" % (b"x" * 4096))
                await writer.drain()
        except ConnectionError:
            was_closed.set()

    async with serving_tls(handle=pour) as server, posting() as client:
        found = await post(client, server)
        await asyncio.wait_for(was_closed.wait(), 60)

    assert (found.status, len(found.answer)) == (200, ANSWER_BYTES)


@pytest.mark.parametrize(
    "pieces",
    [b"x: y\r\n" * 100, b"HTTP/1.1 100 Continue\r\n\r\n" * 100, b"x"],
    ids=["headers", "interim answers", "single bytes"],
)
async def test_endless_head_is_read_up_to_a_limit(pieces: bytes) -> None:
    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"" if pieces.startswith(b"HTTP") else b"HTTP/1.1 200 OK\r\n")
        try:
            while True:
                writer.write(pieces)
                await writer.drain()
                await asyncio.sleep(0)  # each piece is sent alone
        except ConnectionError:
            writer.close()

    async with serving_tls(handle=pour) as server, posting() as client:
        found = await post(client, server)

    assert (found.status, found.error) == (None, PostError.ANSWER)


async def test_compressed_answer_is_not_unpacked() -> None:
    bomb = gzip.compress(b"x" * 1_000_000)
    found = await post_to(http_answer(bomb, headers=b"Content-Encoding: gzip\r\n"))

    assert found.answer == bomb[:ANSWER_BYTES]


@pytest.mark.parametrize(
    "answer",
    [b"SSH-2.0-OpenSSH_9.2\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"],
)
async def test_answer_that_is_not_http_is_an_error(answer: bytes) -> None:
    found = await post_to(answer)

    assert (found.status, found.answer, found.error) == (None, b"", PostError.ANSWER)


async def test_connection_closed_without_answer_is_an_error() -> None:
    async def close(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.close()

    async with serving_tls(handle=close) as server, posting() as client:
        found = await post(client, server)

    assert found.status is None
    assert found.error in (PostError.ANSWER, PostError.CONNECTION)


@pytest.mark.parametrize("ends", [True, False])
async def test_status_counts_though_the_body_is_cut_off_or_never_ends(ends: bool) -> None:
    async def stop(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok")
        await writer.drain()
        if ends:
            writer.close()

    async with serving_tls(handle=stop) as server, posting(timeout_s=30 if ends else 3) as client:
        found = await post(client, server)

    assert (found.status, found.answer, found.error) == (200, b"ok", None)


async def test_slow_answer_ends_with_the_time_limit() -> None:
    async def answer_once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await read_request(reader)
        writer.write(http_answer())
        await read_request(reader)
        was_asked.set()
        await reader.read()

    was_asked = asyncio.Event()
    async with serving_tls(handle=answer_once) as server, posting(timeout_s=3) as client:
        assert (await post(client, server)).is_success
        found = await post(client, server)

    assert was_asked.is_set()
    assert (found.status, found.error, found.detail) == (None, PostError.TIMEOUT, "no answer within 3 s")
    assert found.duration_ms >= 3000


async def test_slow_tls_handshake_and_slow_dns_count_towards_the_time_limit() -> None:
    async def never(host: str, port: int) -> list[str]:
        await asyncio.get_running_loop().create_future()
        return []

    was_closed = asyncio.Event()

    async def be_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()
        was_closed.set()

    server = await asyncio.start_server(be_silent, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    for resolve in (LocalResolver(), never):
        async with posting(timeout_s=1, resolve=resolve) as client:
            found = await client.post(f"https://localhost:{port}/", ACCOUNT, HEADERS, BODY)
        assert found.error is PostError.TIMEOUT
    await asyncio.wait_for(was_closed.wait(), 60)
    server.close()


async def test_server_name_and_host_are_the_name_in_the_url() -> None:
    async with serving_tls() as server, posting() as client:
        assert (await post(client, server)).is_success

    assert server.server_names == ["localhost"]


@pytest.mark.parametrize(
    ("host", "authority", "words"),
    [
        ("localhost", "stranger.pem", "unable to get local issuer certificate"),
        ("other.example", "authority.pem", "Hostname mismatch"),
    ],
)
async def test_certificate_of_someone_else_is_an_error(host: str, authority: str, words: str) -> None:
    async with serving_tls() as server, posting(ca_file=TLS / authority) as client:
        found = await client.post(f"https://{host}:{server.port}/", ACCOUNT, HEADERS, BODY)

    assert (found.status, found.error) == (None, PostError.TLS)
    assert words in found.detail
    assert server.requests == []


async def test_server_of_plain_http_is_told_from_a_bad_certificate() -> None:
    async def answer(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(http_answer(b"", "400 Bad Request"))
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server, posting() as client:
        port = server.sockets[0].getsockname()[1]
        found = await client.post(f"https://localhost:{port}/", ACCOUNT, HEADERS, BODY)

    assert (found.error, found.detail) == (PostError.TLS, NOT_TLS)


async def test_closed_port_is_an_error() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
        async with posting() as client:
            found = await client.post(f"https://localhost:{port}/", ACCOUNT, HEADERS, BODY)

    assert (found.error, found.detail) == (PostError.CONNECTION, "Connection refused")


async def test_next_address_is_tried_if_the_first_refuses() -> None:
    resolver = LocalResolver("127.0.0.1", "127.0.0.2")
    async with serving_tls(host="127.0.0.2") as server, posting(resolve=resolver) as client:
        assert (await post(client, server)).is_success


async def test_host_that_is_not_found_is_an_error() -> None:
    async def missing(host: str, port: int) -> list[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    async with posting(resolve=missing) as client:
        found = await client.post("https://absent.example/", ACCOUNT, HEADERS, BODY)

    assert (found.error, found.detail) == (PostError.DNS, "Name or service not known")


async def test_url_that_is_not_https_is_an_error() -> None:
    async with posting() as client:
        elsewhere = await client.post("http://shop.example/", ACCOUNT, HEADERS, BODY)
        here = await client.post("http://localhost/", ACCOUNT, HEADERS, BODY)

    assert (elsewhere.error, here.error) == (PostError.URL, PostError.ADDRESS)


async def test_answer_of_an_exception_is_not_kept_beyond_its_status() -> None:
    async with serving_tls(http_answer(b"internal", "201 Created")) as server:
        exception = AllowedEndpoint(ACCOUNT, "localhost", server.port)
        async with posting(AddressRules([exception])) as client:
            found = await post(client, server)
            other = await post(client, server, account="other")

    assert (found.status, found.answer) == (201, b"")
    assert (other.status, other.error) == (None, PostError.ADDRESS)


async def test_longest_answer_that_is_read_keeps_the_connection() -> None:
    async with serving_tls(http_answer(b"x" * READ_BYTES)) as server, posting(local_rules()) as client:
        for _ in range(3):
            assert (await post(client, server)).is_success

    assert server.connections == 1


def test_unreadable_authorities_are_refused_at_start(tmp_path: Path) -> None:
    (tmp_path / "empty.pem").write_text("nothing")

    for name in ("absent.pem", "empty.pem"):
        with pytest.raises(BadSetting, match=r"^webhook_tls_ca: cannot be read"):
            WebhookClient(local_rules(), RealWorld(), tmp_path / name)
    WebhookClient(local_rules(), RealWorld(), AUTHORITY)
