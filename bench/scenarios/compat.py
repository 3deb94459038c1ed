"""What do sends through other relays' endpoints cost, compared with the same sends through our own API?

All are scheduled, so that nothing is delivered meanwhile: single sends, and calls of 1,000 messages, each with a
text of its own at Solapi's endpoints, with one text for all at NHN Cloud's. Every call of Solapi's has its own
signature, as its clients make them.
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
SECRET = "a-secret-that-the-benchmark-has"
SETTINGS = f'secret_key = ["{base64.b64encode(bytes(32)).decode()}"]\n[compat.solapi]\n[compat.nhncloud]\n'


class Relay(NamedTuple):
    """A relay whose endpoints are measured: where its sends of one message and of 1,000 go."""

    name: str
    public_id: str
    single: str
    many: str
    text: str
    """Of our own sends."""
    translate: Callable[[bytes], bytes]
    make_line: Callable[[str, int], str]
    """Makes the header of a call."""


class Cost(NamedTuple):
    """What a request costs."""

    cpu_us: float
    rate: float
    p99_ms: float


def measure(env: Environment) -> list[Figure]:
    """Send through all of them, in turn on one service."""
    data = env.copy_store()
    env.configure(data, SETTINGS)
    for relay in RELAYS:
        words = ("--kind", relay.name, "--id", relay.public_id, "--secret", SECRET, "--rate", str(KEY_RATE))
        env.run_command(data, "key", "create", "--account", ACCOUNT, *words)
    figures: list[Figure] = []
    with env.run(data, "compat") as server:
        for relay in RELAYS:
            for size, count, receivers, connections, path in (
                ("single send", env.scaled(SINGLES), 1, SINGLE_CONNECTIONS, relay.single),
                ("call of 1,000", max(4, round(MANY * env.scale)), 1000, MANY_CONNECTIONS, relay.many),
            ):
                ours = bodies.sends(count, receivers, send_date=bodies.later(), content=relay.text)
                theirs = [relay.translate(each) for each in ours]
                own = _measure(env, server, ours, bodies.SEND_SMS, connections)
                keyed = _measure(env, server, ours, bodies.SEND_SMS, connections, _name)
                foreign = _measure(env, server, theirs, path, connections, relay.make_line)
                name = f"{relay.name}, {size}"
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


def _to_solapi(body: bytes) -> bytes:
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
    """Return the header of one call of Solapi's; its salt is used for no other."""
    date = datetime.now(UTC).isoformat()
    salt = hashlib.sha256(f"{path} {number} {date}".encode()).hexdigest()[:32]
    signature = hmac.new(SECRET.encode(), (date + salt).encode(), "sha256").hexdigest()
    return f"Authorization: HMAC-SHA256 apiKey={SOLAPI.public_id}, date={date}, salt={salt}, signature={signature}"


def _to_nhncloud(body: bytes) -> bytes:
    """Return the body that a program for NHN Cloud writes for the same send."""
    sent = msgspec.json.decode(body)
    recipients = [{"recipientNo": each["phoneNumber"]} for each in sent["receivers"]]
    return msgspec.json.encode(
        {
            "body": sent["content"],
            "sendNo": sent["sender"],
            "requestDate": sent["sendDate"],
            "recipientList": recipients,
        }
    )


def _show_secret(path: str, number: int) -> str:
    """Return the header of a call of NHN Cloud's."""
    return f"X-Secret-Key: {SECRET}"


_SOLAPI_PREFIX = "/compat/solapi/messages/v4"
SOLAPI = Relay(
    "solapi",
    "NCSBENCHKEY00001",
    f"{_SOLAPI_PREFIX}/send",
    f"{_SOLAPI_PREFIX}/send-many/detail",
    bodies.TEXT,
    _to_solapi,
    _sign,
)
_NHNCLOUD_PATH = "/compat/nhncloud/sms/v3.0/appKeys/BENCHKEY00001/sender/sms"
NHNCLOUD = Relay(
    "nhncloud",
    "BENCHKEY00001",
    _NHNCLOUD_PATH,
    _NHNCLOUD_PATH,
    bodies.ONE_TEXT,
    _to_nhncloud,
    _show_secret,
)
RELAYS = (SOLAPI, NHNCLOUD)
