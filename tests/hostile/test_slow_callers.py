"""Callers that are slow, silent or greedy lose their connection; everyone else is served meanwhile."""

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from pabal.web.http.connections import MIN_EXTRA_CONNECTIONS
from pabal.web.http.protocol import MAX_PIPELINED
from tests.fixtures.live import LiveService, run, serving, wait_until
from tests.fixtures.raw_http import (
    RawConnection,
    chunk,
    connected,
    count_accepted,
    get_status,
    open_files,
    read_metrics,
    resident_bytes,
    send_head,
    send_request,
)

pytestmark = pytest.mark.slow

CHUNKED = b"Transfer-Encoding: chunked"
HALF_HEAD = b"POST /api/message/sendSMS.v1.0 HTTP/1.1\r\nHost: pabal\r\nX-A: "
MEGABYTE = 2**20
DRIP_INTERVAL_S = 0.1
LARGE_FILE = "/docs/assets/swagger-ui-bundle.js"
FORM = b"POST /console/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\n"


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveService]:
    """A service that waits a second for everything."""
    seconds = dict.fromkeys(("head_seconds", "body_seconds", "idle_seconds", "response_seconds"), 1)
    with serving(tmp_path_factory.mktemp("live") / "data", key_rate=0, **seconds) as running:
        yield running


@contextlib.contextmanager
def many_connected(live: LiveService, count: int) -> Iterator[list[RawConnection]]:
    """Open many connections until the end of the block."""
    with contextlib.ExitStack() as stack:
        yield [stack.enter_context(connected(live)) for _ in range(count)]


def count_closed(live: LiveService, reason: str) -> float:
    """Return how many connections the service has closed for a reason."""
    return read_metrics(live).get(f'pabal_http_connections_closed_total{{reason="{reason}"}}', 0)


def send_once(live: LiveService, phone: str) -> int:
    """Return the status of a send on a connection of its own."""
    with connected(live) as connection:
        connection.send(send_request(live, phone))
        answer = connection.read()
    return answer.status if answer else 0


def drip(connection: RawConnection, part: bytes) -> bytes:
    """Send a part again and again until the service answers, and return the answer."""
    connection.socket.settimeout(DRIP_INTERVAL_S)
    for _ in range(200):
        connection.send(part)
        with contextlib.suppress(TimeoutError, ConnectionResetError):
            return connection.socket.recv(65_536)
    raise AssertionError("the service waits for ever")


def test_silent_connection_is_closed(live: LiveService) -> None:
    with connected(live) as silent, connected(live) as blank:
        blank.send(b"\r\n")

        assert silent.read_all() == []
        assert blank.read_all() == []


def test_connection_is_closed_when_no_further_request_comes(live: LiveService) -> None:
    with connected(live) as connection:
        connection.send(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n")

        assert [each.status for each in connection.read_all()] == [200]


def test_half_head_is_refused_in_time(live: LiveService) -> None:
    before = count_closed(live, "head_timeout")
    with connected(live) as connection, connected(live) as second:
        connection.send(HALF_HEAD)
        second.send(b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n" + HALF_HEAD)

        answers, after_first = connection.read_all(), second.read_all()

    assert [(each.status, each.result) for each in answers] == [(408, "INVALID_PARAMETER")]
    assert [each.status for each in after_first] == [200, 408]
    assert count_closed(live, "head_timeout") == before + 2


def test_dripping_head_is_refused_in_time(live: LiveService) -> None:
    with connected(live) as connection:
        connection.send(HALF_HEAD)

        assert drip(connection, b"a").startswith(b"HTTP/1.1 408")


@pytest.mark.first_case
@pytest.mark.parametrize("framing", ["length", "chunks"])
@pytest.mark.parametrize("page", ["interface", "console", "nobody"])
def test_dripping_body_is_refused_in_time(live: LiveService, page: str, framing: str) -> None:
    heads = {
        "interface": send_head(live, b"X-Framing: ?"),
        "console": FORM + b"X-Framing: ?\r\n\r\n",
        "nobody": send_head(live, b"X-Framing: ?").replace(live.key.encode(), b"none"),
    }
    field = CHUNKED if framing == "chunks" else b"Content-Length: 1000"
    with connected(live) as connection:
        connection.send(heads[page].replace(b"X-Framing: ?", field))
        answer = drip(connection, chunk(b" ") if framing == "chunks" else b" ")

    is_refused_at_once = page == "nobody" and framing == "length"
    assert answer.startswith(b"HTTP/1.1 401" if is_refused_at_once else b"HTTP/1.1 408")


def test_body_that_is_slow_but_steady_is_accepted(tmp_path: Path) -> None:
    with serving(tmp_path / "data", body_seconds=1, min_bytes_per_second=1) as live:
        request = send_request(live, "010-5555-0020")
        with connected(live) as connection:
            connection.socket.settimeout(DRIP_INTERVAL_S)
            for start in range(0, len(request), 10):
                with contextlib.suppress(TimeoutError):
                    connection.send(request[start : start + 10])
                    assert start + 10 >= len(request) or not connection.socket.recv(1)
        assert wait_until(lambda: count_accepted(live, "010-5555-0020"), bool) == 1


def test_answer_that_nobody_reads_is_given_up(live: LiveService) -> None:
    before = count_closed(live, "response_timeout")
    with connected(live) as connection:
        ask_without_reading(connection)
        wait_until(lambda: count_closed(live, "response_timeout"), lambda seen: seen > before)


def ask_without_reading(connection: RawConnection) -> None:
    """Ask for more than the buffers of the system hold, and read nothing of it."""
    request = b"GET %b HTTP/1.1\r\nHost: a\r\n\r\n" % LARGE_FILE.encode()
    connection.send(request * (MAX_PIPELINED + 1))


@pytest.mark.torture
def test_refused_body_that_goes_on_for_ever_is_cut_off(live: LiveService) -> None:
    with connected(live) as connection:
        connection.send(send_head(live, b"Content-Length: 100000000000"))
        refused = connection.read()
        connection.socket.settimeout(DRIP_INTERVAL_S)
        was_closed = False
        for _ in range(200):
            with contextlib.suppress(TimeoutError, ConnectionResetError):
                connection.send(b" ")
                was_closed = connection.socket.recv(1) == b""
            if was_closed:
                break

    assert refused is not None
    assert refused.status == 413
    assert was_closed


@pytest.mark.first_case
@pytest.mark.parametrize("start", [b"", HALF_HEAD], ids=["idle", "half heads"])
def test_more_connections_than_files_shut_nobody_out(tmp_path: Path, start: bytes) -> None:
    with serving(tmp_path / "data", max_files=128, head_seconds=60) as live, many_connected(live, 140) as attackers:
        for each in attackers:
            each.send(start)

        assert get_status(live, "/readyz") == 200
        assert wait_until(lambda: send_once(live, "010-5555-0030"), lambda seen: seen != 503) == 200
        assert open_files(live) < 128
        assert count_closed(live, "evicted") > 0
        assert "Errno 24" not in live.log.read_text(encoding="utf-8")


def test_slow_bodies_make_room_for_new_connections(tmp_path: Path) -> None:
    settings = {"max_connections": 10, "body_seconds": 60}
    with serving(tmp_path / "data", **settings) as live, many_connected(live, 10) as attackers:
        for each in attackers:
            each.send(send_head(live, b"Content-Length: 100000") + b"{")
        wait_until(lambda: read_metrics(live)['pabal_http_connections{state="receiving"}'], lambda seen: seen > 8)

        with connected(live) as connection:
            connection.send(send_request(live, "010-5555-0031"))
            answer = connection.read()

        assert answer is not None
        assert answer.status == 200
        refused = attackers[0].read()
        assert refused is not None
        assert (refused.status, refused.headers["retry-after"]) == (503, "1")


def test_health_checks_are_answered_when_all_connections_are_busy(tmp_path: Path) -> None:
    with serving(tmp_path / "data", max_connections=8) as live, many_connected(live, 8) as attackers:
        for each in attackers:
            ask_without_reading(each)
        with many_connected(live, 2 * MIN_EXTRA_CONNECTIONS):
            with connected(live) as connection:
                connection.send(send_request(live, "010-5555-0032"))
                refused = connection.read_all()

            assert [each.status for each in refused] == [503]
            assert refused[0].headers["retry-after"] == "1"
            assert [get_status(live, path) for path in ("/healthz", "/readyz", "/metrics")] == [200] * 3
            assert count_closed(live, "refused") > 0


@pytest.mark.torture
def test_bodies_without_a_length_hold_little_memory(tmp_path: Path) -> None:
    with serving(tmp_path / "data", key_rate=0, max_held_bytes_per_key=8 * MEGABYTE, body_seconds=2) as live:
        get_status(live)
        before = resident_bytes(live)
        with many_connected(live, 25) as attackers:
            part = chunk(b" " * MEGABYTE)
            for each in attackers:
                each.send(send_head(live, CHUNKED) + part * 7)
            held = read_metrics(live)['pabal_http_body_bytes{part="interface"}']
            grown = resident_bytes(live) - before
            answers = [answer for each in attackers if (answer := each.read())]

        refused = [answer for answer in answers if answer.status != 408]
        assert len(answers) - len(refused) <= 1, "two bodies of 7 MiB exceed the budget"
        assert {(each.status, each.result) for each in refused} == {(429, "RATE_LIMITED")}
        assert {each.headers["retry-after"] for each in refused} == {"1"}
        assert held <= 8 * MEGABYTE
        assert grown < 60 * MEGABYTE
        wait_until(lambda: read_metrics(live)['pabal_http_body_bytes{part="interface"}'], lambda seen: seen == 0)


def test_declared_bodies_are_refused_before_they_are_sent(tmp_path: Path) -> None:
    with serving(tmp_path / "data", key_rate=0, max_held_bytes=9 * MEGABYTE) as live:
        other = run("key", "create", "--account", "first", "--rate", "0", data=live.data).stdout.strip()
        head = send_head(live, b"Content-Length: %d" % (8 * MEGABYTE))
        with connected(live) as first, connected(live) as second:
            first.send(head + b"{")
            wait_until(
                lambda: read_metrics(live)['pabal_http_body_bytes{part="interface"}'], lambda seen: seen > MEGABYTE
            )
            second.send(head.replace(live.key.encode(), other.encode()))
            answer = second.read()

        assert answer is not None
        assert (answer.status, answer.result) == (503, "SERVICE_UNAVAILABLE")
        assert answer.headers["retry-after"] == "1"


def test_rate_is_spent_before_a_body_without_length_is_read(tmp_path: Path) -> None:
    with serving(tmp_path / "data", key_rate=1) as live, many_connected(live, 3) as connections:
        for each in connections:
            each.send(send_head(live, CHUNKED) + b"1\r\n")
        answers = [each.read() for each in connections[2:]]

        assert [each and each.status for each in answers] == [429]


def test_ended_connections_leave_nothing_behind(live: LiveService) -> None:
    def count_open() -> float:
        return read_metrics(live)['pabal_http_connections{state="all"}']

    with many_connected(live, 30) as connections:
        for each in connections:
            each.send(HALF_HEAD)
            each.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    assert wait_until(count_open, lambda seen: seen == 1) == 1
