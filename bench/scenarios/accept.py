"""How many single sends a second are accepted, compared with a bare HTTP server?

The account has a key with a rate, limits, a registered sender number, a sender profile and a template; SMS go to an
SMSC, so that sender numbers are checked.
"""

import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

from bench import bodies, load
from bench.environment import Environment, call_api
from bench.figures import Figure, p99_ms
from bench.server import Server, free_ports, running_server
from bench.smsc import running_smsc

ROUNDS = 3
CONNECTIONS = 64
WARM_UP_S = 1.0
SECONDS = 3.0
DIFFERENT_SENDS = 1000
TARGET = 0.3
SCHEDULED_TARGET = 0.6
CHANNEL, PHONE, CATEGORY = "@bench", "01099990000", "00100010001"
TEMPLATE_CODE, TEMPLATE_CATEGORY = "T1", "006003"


class AcceptRate(NamedTuple):
    """How fast a server accepted sends, and the CPU time a request."""

    rate: float
    cpu_us: float
    p99_ms: float


def measure(env: Environment) -> list[Figure]:
    """Load the bare server, then the service with sends that are due at once, and with scheduled ones."""
    seed = env.stored("channel", lambda data: _register_channel(env, data))
    later = bodies.later()
    talk = {"senderKey": (seed / "sender-key").read_text(), "templateCode": TEMPLATE_CODE, "sendDate": later}
    at_once = bodies.sends(DIFFERENT_SENDS, 1)
    (port,) = free_ports(1)
    with running_server([sys.executable, "-m", "bench.bare", str(port)], port) as server:
        bare = _measure_rate(env, server, bodies.SEND_SMS, at_once)
    figures = []
    with running_smsc() as smsc:
        for name, path, requests, target in (
            ("SMS due at once", bodies.SEND_SMS, at_once, TARGET),
            ("SMS scheduled", bodies.SEND_SMS, bodies.sends(DIFFERENT_SENDS, 1, send_date=later), SCHEDULED_TARGET),
            ("Alimtalk scheduled", bodies.SEND_ALIMTALK, bodies.talks(DIFFERENT_SENDS, 1, **talk), None),
        ):
            data = env.copy_store(seed)
            env.configure(data, smsc.settings())
            smsc.reset()
            with env.run(data, "accept") as server:
                smsc.wait_for("binds", 1)
                found = _measure_rate(env, server, path, requests)
            figures += [
                Figure(f"{name}: accepted", found.rate, "/s"),
                Figure(f"{name}: accepted / bare server", found.rate / bare.rate, target=target),
                Figure(f"{name}: p99", found.p99_ms, " ms", "less"),
                Figure(f"{name}: CPU a send", found.cpu_us, " µs", "less"),
            ]
    return [*figures, Figure("bare server: CPU a send", bare.cpu_us, " µs", "less")]


def _measure_rate(env: Environment, server: Server, path: str, requests: list[bytes]) -> AcceptRate:
    before_s = server.cpu_s() + env.store_cpu_s()
    seen = load.run(
        env.plan(server, requests, path=path, connections=CONNECTIONS, warm_up_s=WARM_UP_S, seconds=SECONDS)
    )
    cpu_us = (server.cpu_s() + env.store_cpu_s() - before_s) / seen.all_requests * 1e6
    return AcceptRate(seen.rate, cpu_us, p99_ms(seen.latencies_s))


def _register_channel(env: Environment, data: Path) -> None:
    """Register a sender profile and a template at the simulator, and store the sender key beside the store."""
    with env.run(data, "accept") as server:

        def call(operation: str, body: object = None) -> Any:
            return call_api(server, env.key, operation, body)

        call("sender/create.v1.0", {"channelId": CHANNEL, "cellphone": PHONE, "category": CATEGORY})
        newest, *_ = call(f"simulator/phone.v1.0?phoneNumber={PHONE}")["items"]
        token = re.findall("[0-9]{6}", newest["content"])[0]
        call("sender/auth.v1.0", {"channelId": CHANNEL, "token": token})
        key = call("sender/list.v1.0?channelId=" + CHANNEL)["items"][0]["senderKey"]
        template = {"senderKey": key, "templateCode": TEMPLATE_CODE}
        content = {
            "name": "배송 안내",
            "content": "#{name}님, 배송이 시작되었습니다.",
            "category": TEMPLATE_CATEGORY,
        }
        call("template/create.v1.0", template | content)
        call("template/request.v1.0", template)
    (data / "sender-key").write_text(key)
