"""What do sends through Solapi's endpoints cost, compared with the same sends through our own API?

Both are scheduled, so that nothing is delivered meanwhile: single sends, and calls of 1,000 messages, each with a
text of its own. Every call of the Solapi endpoints has its own signature, as its clients make them.
"""

import base64
import hashlib
import hmac
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from bench import bodies, load
from bench.environment import ACCOUNT, KEY_RATE, Environment
from bench.figures import Figure, p99_ms
from bench.server import Server

ROUNDS = 5
SINGLES, SINGLE_CONNECTIONS = 6_000, 32
MANY, MANY_CONNECTIONS = 40, 4
WARM_UP = 0.2
"""The share of the requests of each load that are made once before it, without counting."""
TARGET = 1.3
API_KEY, SECRET = "NCSBENCHKEY00001", "a-secret-that-the-benchmark-has"
PREFIX = "/compat/solapi/messages/v4"
SETTINGS = f'secret_key = ["{base64.b64encode(bytes(32)).decode()}"]\n[compat.solapi]\n'


class Cost(NamedTuple):
    """What a request costs."""

    cpu_us: float
    rate: float
    p99_ms: float


def measure(env: Environment) -> list[Figure]:
    """Send through both, in turn on one service."""
    data = env.copy_store()
    env.configure(data, SETTINGS)
    env.run_command(
        data,
        *("key", "create", "--account", ACCOUNT, "--rate", str(KEY_RATE)),
        "--kind",
        "solapi",
        "--id",
        API_KEY,
        "--secret",
        SECRET,
    )
    figures: list[Figure] = []
    with env.run(data, "compat") as server:
        for name, count, receivers, connections, call in (
            ("single send", env.scaled(SINGLES), 1, SINGLE_CONNECTIONS, "send"),
            ("call of 1,000", max(4, round(MANY * env.scale)), 1000, MANY_CONNECTIONS, "send-many/detail"),
        ):
            ours = bodies.sends(count, receivers, send_date=bodies.later())
            theirs = [_translate(each) for each in ours]
            own = _measure(env, server, ours, bodies.SEND_SMS, connections)
            keyed = _measure(env, server, ours, bodies.SEND_SMS, connections, _name)
            foreign = _measure(env, server, theirs, f"{PREFIX}/{call}", connections, _sign)
            figures += [
                Figure(f"{name}: CPU / ours", foreign.cpu_us / own.cpu_us, "", "less", TARGET),
                Figure(f"{name}: time / ours", own.rate / foreign.rate, "", "less", TARGET),
                Figure(f"{name}: CPU / ours with Idempotency-Key", foreign.cpu_us / keyed.cpu_us, "", "less"),
                Figure(f"{name}: CPU", foreign.cpu_us, " µs", "less"),
                Figure(f"{name}: p99", foreign.p99_ms, " ms", "less"),
                Figure(f"{name}: p99 of ours", own.p99_ms, " ms", "less"),
            ]
    return figures


def _measure(
    env: Environment,
    server: Server,
    requests: list[bytes],
    path: str,
    connections: int,
    make_line: Callable[[str, int], str] | None = None,
) -> Cost:
    """Measure a load; `make_line` makes a header for each of its requests."""
    for part in (requests[: max(1, round(len(requests) * WARM_UP))], requests):
        lines = [make_line(path, number) for number in range(len(part))] if make_line else []
        before_s = server.cpu_s() + env.store_cpu_s()
        seen = load.run(
            env.plan(server, part, path=path, connections=connections, count=len(part), header_lines=lines)
        )
        cpu_s = server.cpu_s() + env.store_cpu_s() - before_s
    return Cost(cpu_s / seen.all_requests * 1e6, seen.rate, p99_ms(seen.latencies_s))


def _name(path: str, number: int) -> str:
    """Return the header that makes a send through our own API safe to repeat, as a signature does at Solapi's."""
    return f"Idempotency-Key: {number}-{datetime.now(UTC).isoformat()}"


def _translate(body: bytes) -> bytes:
    """Return the body that a program for Solapi writes for the same send."""
    sent = msgspec.json.decode(body)
    when = datetime.strptime(sent["sendDate"], "%Y-%m-%d %H:%M").replace(tzinfo=bodies.SEOUL).isoformat()
    messages = [
        {
            "to": each["phoneNumber"].replace("-", ""),
            "from": sent["sender"].replace("-", ""),
            "text": sent["content"].replace("#{name}", each["templateData"]["name"]),
        }
        for each in sent["receivers"]
    ]
    if len(messages) == 1:
        return msgspec.json.encode({"message": messages[0], "scheduledDate": when})
    return msgspec.json.encode({"messages": messages, "scheduledDate": when})


def _sign(path: str, number: int) -> str:
    """Return the header of one call; its salt is used for no other."""
    date = datetime.now(UTC).isoformat()
    salt = hashlib.sha256(f"{path} {number} {date}".encode()).hexdigest()[:32]
    signature = hmac.new(SECRET.encode(), (date + salt).encode(), "sha256").hexdigest()
    return f"Authorization: HMAC-SHA256 apiKey={API_KEY}, date={date}, salt={salt}, signature={signature}"
