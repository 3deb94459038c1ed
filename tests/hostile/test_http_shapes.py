"""Malformed HTTP is refused or closed: no hang, no 500, nothing accepted twice or for another caller."""

import gzip
from collections.abc import Iterator

import pytest

from pabal.web.http.head import MAX_HEAD_BYTES, MAX_HEADERS
from pabal.web.http.protocol import MAX_PIPELINED
from tests.fixtures.live import LiveService, run, serving
from tests.fixtures.raw_http import (
    SEND_PATH,
    chunk,
    connected,
    count_accepted,
    encode_send,
    read_metrics,
    send_head,
    send_request,
)

pytestmark = pytest.mark.slow

BODY = encode_send("010-5555-0001")
LENGTH = b"Content-Length: %d" % len(BODY)
CHUNKED = b"Transfer-Encoding: chunked"
CHUNKED_BODY = chunk(BODY) + b"0\r\n\r\n"


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    """A service that no test of this module may harm."""
    data = tmp_path_factory.mktemp("live") / "data"
    with serving(data, key_rate=0, trusted_proxies="127.0.0.1/32", head_seconds=3, body_seconds=3) as running:
        yield running
        assert "unhandled error" not in running.log.read_text(encoding="utf-8")
        assert "Traceback" not in running.log.read_text(encoding="utf-8")
        assert not [name for name in read_metrics(running) if "INTERNAL_ERROR" in name]


REFUSED = {
    "negative length": ([b"Content-Length: -1"], BODY),
    "length with a sign": ([b"Content-Length: +%d" % len(BODY)], BODY),
    "length in hexadecimal": ([b"Content-Length: 0x%x" % len(BODY)], BODY),
    "empty length": ([b"Content-Length:"], BODY),
    "length beyond 64 bits": ([b"Content-Length: 99999999999999999999999"], BODY),
    "two different lengths": ([LENGTH, b"Content-Length: 5"], BODY),
    "two equal lengths": ([LENGTH, LENGTH], BODY),
    "two lengths in one field": ([b"Content-Length: %d, %d" % (len(BODY), len(BODY))], BODY),
    "length and chunks": ([LENGTH, CHUNKED], CHUNKED_BODY),
    "chunks and length": ([CHUNKED, LENGTH], CHUNKED_BODY),
    "chunks twice": ([CHUNKED, CHUNKED], CHUNKED_BODY),
    "chunks, not last": ([b"Transfer-Encoding: chunked, identity"], CHUNKED_BODY),
    "unknown transfer coding": ([b"Transfer-Encoding: xchunked"], CHUNKED_BODY),
    "quoted transfer coding": ([b'Transfer-Encoding: "chunked"'], CHUNKED_BODY),
    "vertical tab before the coding": ([b"Transfer-Encoding: \x0bchunked"], CHUNKED_BODY),
    "gzip and chunks": ([b"Transfer-Encoding: gzip, chunked"], chunk(gzip.compress(BODY)) + b"0\r\n\r\n"),
    "space before the colon": ([b"Content-Length : %d" % len(BODY)], BODY),
    "folded header": ([LENGTH, b"X-A: b", b" folded: c"], BODY),
    "folded first header": ([b" folded: c", LENGTH], BODY),
    "bare LF": ([LENGTH + b"\nX-A: b"], BODY),
    "bare CR": ([LENGTH + b"\rX-A: b"], BODY),
    "NUL in a header": ([LENGTH, b"X-A: a\0b"], BODY),
    "NUL in a header's name": ([LENGTH, b"X-\0A: ab"], BODY),
    "control character in a header": ([LENGTH, b"X-A: a\x08b"], BODY),
    "DEL in a header": ([LENGTH, b"X-A: a\x7fb"], BODY),
    "header without a name": ([LENGTH, b": b"], BODY),
    "header without a colon": ([LENGTH, b"X-A"], BODY),
    "two hosts": ([LENGTH, b"Host: other"], BODY),
    "two keys": ([LENGTH, b"apiKey: pb_0000000000000000000000000000000000000000"], BODY),
    "two media types": ([LENGTH, b"Content-Type: text/plain"], BODY),
    "two idempotency keys": ([LENGTH, b"Idempotency-Key: a", b"Idempotency-Key: b"], BODY),
    "many headers": ([LENGTH, *[b"X-A: b"] * MAX_HEADERS], BODY),
    "huge header": ([LENGTH, b"X-A: " + b"b" * MAX_HEAD_BYTES], BODY),
    "huge headers": ([LENGTH, *[b"X-A: " + b"b" * 8192] * 40], BODY),
    "chunk size that is no number": ([CHUNKED], b"zz\r\n" + BODY),
    "negative chunk size": ([CHUNKED], b"-1\r\n" + BODY),
    "chunk size beyond 64 bits": ([CHUNKED], b"fffffffffffffffff\r\n" + BODY),
    "chunk longer than its size": ([CHUNKED], b"5\r\n" + BODY + b"\r\n0\r\n\r\n"),
    "chunk size with 0x": ([CHUNKED], b"0x%x\r\n" % len(BODY) + BODY + b"\r\n0\r\n\r\n"),
    "chunk ended by LF": ([CHUNKED], b"%x\n" % len(BODY) + BODY + b"\n0\n\n"),
    "endless chunk extension": ([CHUNKED], b"5;a=" + b"b" * 1_000_000),
    "endless trailer": ([CHUNKED], chunk(BODY) + b"0\r\nX-A: " + b"b" * 1_000_000),
    "tiny chunks": ([CHUNKED], b"".join([chunk(b" ")] * 60_000)),
    "gzip body": (
        [b"Content-Encoding: gzip", b"Content-Length: %d" % len(gzip.compress(BODY))],
        gzip.compress(BODY),
    ),
}
assert len(gzip.compress(BODY)) > 10


@pytest.mark.parametrize("upgrade", [[], [b"Connection: Upgrade", b"Upgrade: h2c"]], ids=["plain", "upgrade"])
@pytest.mark.parametrize("shape", REFUSED)
def test_malformed_send_is_refused_and_not_accepted(live: LiveService, shape: str, upgrade: list[bytes]) -> None:
    fields, body = REFUSED[shape]
    fields = [*fields, *upgrade]
    with connected(live) as connection:
        connection.send(send_head(live, *fields) + body)
        connection.send(b"GET /smuggled HTTP/1.1\r\nHost: pabal\r\nConnection: close\r\n\r\n")

        answers = connection.read_all()

    assert answers == [] or 400 <= answers[0].status < 500
    assert answers == [] or answers[0].result
    assert count_accepted(live, "010-5555-0001") == 0


TARGETS = {
    "NUL": b"/healthz\0",
    "control character": b"/health\x01z",
    "space": b"/health z",
    "DEL": b"/health\x7fz",
    "non-ASCII": "/건강".encode(),
    "no slash": b"healthz",
    "asterisk": b"*",
    "authority": b"pabal:80",
    "encoded NUL in a static file": b"/docs/assets/%00",
    "encoded NUL in the console's files": b"/console/static/%00",
    "long file name": b"/docs/assets/" + b"a" * 5000,
    "parent folders": b"/docs/assets/../../../../etc/passwd",
    "encoded parent folders": b"/console/static/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
    "invalid UTF-8": b"/%ff%fe",
    "lone surrogate": b"/console/%ed%a0%80",
    "encoded NUL in a path": b"/console/history%00",
    "invalid escape": b"/%zz",
    "long": b"/" + b"a" * 100_000,
    "longer than a head": b"/" + b"a" * MAX_HEAD_BYTES,
    "long query": b"/api/message/list.v1.0?receivers=" + b"0" * 100_000,
    "absolute without a path": b"http://pabal",
    "absolute with a bad port": b"http://pabal:99999/healthz",
    "another scheme": b"ftp://pabal/a",
    "only a query": b"?a=b",
}


@pytest.mark.parametrize("target", TARGETS)
def test_malformed_target_is_refused(live: LiveService, target: str) -> None:
    with connected(live) as connection:
        connection.send(b"GET %b HTTP/1.1\r\nHost: pabal\r\nConnection: close\r\n\r\n" % TARGETS[target])

        answers = connection.read_all()

    assert answers == [] or 300 <= answers[0].status < 500, answers


HOSTS = [
    b"",
    b"[",
    b"[::1",
    b"a b",
    b"a/b",
    b"user@a",
    b"a:b:c",
    b"a\\b",
    b"a?b#c",
    "호스트".encode(),
    b"a:" + b"9" * 20,
]


@pytest.mark.parametrize("path", [b"/console/history", b"/healthz", b"/api/message/list.v1.0"])
@pytest.mark.parametrize("host", HOSTS)
def test_malformed_host_is_no_internal_error(live: LiveService, host: bytes, path: bytes) -> None:
    with connected(live) as connection:
        connection.send(b"GET %b HTTP/1.1\r\nHost: %b\r\nConnection: close\r\n\r\n" % (path, host))

        answers = connection.read_all()

    assert answers == [] or answers[0].status < 500, answers
    location = answers[0].headers.get("location", "/") if answers else "/"
    assert location.startswith("/")
    assert not location.startswith("//")


@pytest.mark.parametrize(
    "line",
    [
        b"GET /healthz",
        b"GET /healthz HTTP/0.9",
        b"GET /healthz HTTP/2.0",
        b"GET /healthz HTTP/1.12",
        b"GET /healthz HTTP/11",
        b"GET /healthz http/1.1",
        b"GET\t/healthz\tHTTP/1.1",
        b"BREW /healthz HTTP/1.1",
        b"get /healthz HTTP/1.1",
        b"G\0T /healthz HTTP/1.1",
        b"CONNECT pabal:443 HTTP/1.1",
        b"PRI * HTTP/2.0",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"SSH-2.0-OpenSSH_9.6",
        b"\r\n\r\n\r\n\r\nBREW",
    ],
)
def test_malformed_request_line_is_refused(live: LiveService, line: bytes) -> None:
    with connected(live) as connection:
        connection.send(line + b"\r\nHost: pabal\r\nConnection: close\r\n\r\n")

        answers = connection.read_all()

    assert answers == [] or 400 <= answers[0].status < 500, answers


@pytest.mark.parametrize(
    "method", [b"PUT", b"DELETE", b"PATCH", b"OPTIONS", b"TRACE", b"HEAD", b"PROPFIND", b"PURGE"]
)
@pytest.mark.parametrize("path", [SEND_PATH, b"/console/login", b"/hooks/simulator"])
def test_other_method_is_not_allowed(live: LiveService, method: bytes, path: bytes) -> None:
    with connected(live) as connection:
        connection.send(b"%b %b HTTP/1.1\r\nHost: pabal\r\nConnection: close\r\n\r\n" % (method, path))
        if method == b"HEAD":
            connection.socket.shutdown(1)
        status = int(connection.socket.recv(65_536).split(b" ")[1])

    assert status == 405 or (method == b"HEAD" and status in (200, 404)), status


def test_request_without_a_host_is_refused_in_http_1_1(live: LiveService) -> None:
    with connected(live) as connection:
        connection.send(b"GET /healthz HTTP/1.1\r\n\r\n")

        answer = connection.read()

    assert answer is not None
    assert (answer.status, answer.result) == (400, "INVALID_PARAMETER")


def test_http_1_0_and_absolute_targets_are_answered(live: LiveService) -> None:
    with connected(live) as old, connected(live) as absolute:
        old.send(b"GET /healthz HTTP/1.0\r\n\r\n")
        absolute.send(b"GET http://pabal/healthz HTTP/1.1\r\nHost: pabal\r\n\r\n")

        assert [each.status for each in old.read_all()] == [200]
        answer = absolute.read()

    assert answer is not None
    assert answer.status == 200


def test_chunks_in_http_1_0_are_not_accepted_twice(live: LiveService) -> None:
    phone = "010-5555-0002"
    with connected(live) as connection:
        body = encode_send(phone)
        connection.send(send_head(live, CHUNKED, version=b"1.0") + chunk(body) + b"0\r\n\r\n")
        connection.read_all()

    assert count_accepted(live, phone) <= 1


def test_bytes_beyond_the_length_are_no_part_of_the_send(live: LiveService) -> None:
    phone, smuggled = "010-5555-0003", "010-5555-0004"
    with connected(live) as connection:
        connection.send(send_request(live, phone) + b"garbage that is no request\r\n\r\n")
        first, second = connection.read_all()

    assert (first.status, first.result) == (200, "SUCCESS")
    assert second.status == 400
    assert (count_accepted(live, phone), count_accepted(live, smuggled)) == (1, 0)


def test_malformed_request_behind_a_send_does_not_answer_for_it(live: LiveService) -> None:
    with connected(live) as connection:
        connection.send(send_request(live, "010-5555-0005"))
        connection.send(send_head(live, b"Content-Length: -1"))
        answers = connection.read_all()

    assert [each.status for each in answers] == [200, 400]
    assert answers[0].result == "SUCCESS"


def test_malformed_body_behind_a_send_does_not_answer_for_it(live: LiveService) -> None:
    phone = "010-5555-0006"
    with connected(live) as connection:
        connection.send(send_request(live, phone) + send_head(live, CHUNKED) + chunk(b"{")[:-2] + b"zz\r\n")
        answers = connection.read_all()

    assert [each.status for each in answers] == [200, 400]
    assert count_accepted(live, phone) == 1


def test_pipelined_sends_are_answered_in_order_and_once_each(live: LiveService) -> None:
    phones = [f"010-5556-{number:04}" for number in range(MAX_PIPELINED)]
    with connected(live) as connection:
        connection.send(b"".join(send_request(live, phone) for phone in phones))
        answers = [connection.read() for _ in phones]

    assert [each and each.status for each in answers] == [200] * len(phones)
    assert len({each.body for each in answers if each}) == len(phones)
    assert [count_accepted(live, phone) for phone in phones] == [1] * len(phones)


def test_endless_pipeline_is_cut_off_after_the_answers_it_is_owed(live: LiveService) -> None:
    with connected(live) as connection:
        connection.send(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n" * 20_000)
        answers = connection.read_all()

    assert {each.status for each in answers[:-1]} <= {200}
    assert len(answers) < 20_000


def test_trailer_is_no_header(live: LiveService) -> None:
    """A trailer comes after what a proxy checked, so it must not choose the key or the caller's address."""
    allowed = run("key", "create", "--account", "first", "--allow", "10.9.8.0/24", data=live.data).stdout.strip()
    phone = "010-5555-0007"
    body = chunk(encode_send(phone)) + b"0\r\nX-Forwarded-For: 10.9.8.7\r\napiKey: %b\r\n\r\n"
    forged = send_head(live, CHUNKED).replace(live.key.encode(), allowed.encode())
    nobody = send_head(live, CHUNKED).replace(live.key.encode(), b"none")
    with connected(live) as by_address, connected(live) as by_key:
        by_address.send(forged + body % allowed.encode())
        by_key.send(nobody + body % live.key.encode())
        address_answer, key_answer = by_address.read(), by_key.read()

    assert address_answer is not None
    assert address_answer.result == "FORBIDDEN"
    assert key_answer is not None
    assert key_answer.result == "UNAUTHORIZED"
    assert count_accepted(live, phone) == 0


H2C = [b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABkAAQBAAAA"]
WEBSOCKET = [b"Connection: Upgrade", b"Upgrade: websocket"]


@pytest.mark.parametrize("upgrade", [H2C, WEBSOCKET], ids=["h2c", "websocket"])
@pytest.mark.parametrize("framing", [LENGTH, CHUNKED], ids=["length", "chunks"])
@pytest.mark.parametrize("is_split", [False, True], ids=["whole", "split"])
def test_upgrade_is_ignored_and_the_body_read(
    live: LiveService, upgrade: list[bytes], framing: bytes, is_split: bool
) -> None:
    """Java's HTTP client and `curl --http2` ask for HTTP/2 in every first request over plain HTTP."""
    phone = f"010-5556-0{[LENGTH, CHUNKED].index(framing)}{len(upgrade)}{is_split:d}"
    body = encode_send(phone)
    request = send_head(live, framing, *upgrade) + (chunk(body) + b"0\r\n\r\n" if framing == CHUNKED else body)
    with connected(live) as connection:
        for part in [request[:-20], request[-20:]] if is_split else [request * 3]:
            connection.send(part)
        answers = [connection.read() for _ in range(1 if is_split else 3)]
        connection.send(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        answers.append(connection.read())

    assert [each.status for each in answers if each] == [200] * len(answers)
    assert count_accepted(live, phone) == len(answers) - 1


@pytest.mark.parametrize("is_whole", [True, False])
def test_half_closed_connection_gets_its_answer(live: LiveService, is_whole: bool) -> None:
    phone = f"010-5555-001{is_whole:d}"
    request = send_request(live, phone)
    with connected(live) as connection:
        connection.send(request if is_whole else request[:-5])
        connection.socket.shutdown(1)
        answers = connection.read_all()

    assert [each.status for each in answers] == [200 if is_whole else 400]
    assert count_accepted(live, phone) == is_whole


def test_body_shorter_than_its_length_is_refused_after_the_timeout(live: LiveService) -> None:
    with connected(live) as connection:
        connection.send(send_head(live, b"Content-Length: %d" % (len(BODY) + 1)) + BODY)

        answers = connection.read_all()

    assert [(each.status, each.result) for each in answers] == [(408, "INVALID_PARAMETER")]
    assert count_accepted(live, "010-5555-0001") == 0


def test_connection_stays_usable_after_a_body_that_was_too_large(live: LiveService) -> None:
    with connected(live) as connection:
        connection.send(send_head(live, b"Content-Length: %d" % (9 * 2**20)))
        refused = connection.read()
        connection.send(b" " * (9 * 2**20) + b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")
        answer = connection.read()

    assert refused is not None
    assert answer is not None
    assert (refused.status, answer.status) == (413, 200)
