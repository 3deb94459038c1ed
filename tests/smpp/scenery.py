"""What tests of the real service in front of a far end share: its settings, what to send, and how it went."""

import asyncio
import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx

from tests.live import Live, serving
from tests.peers.peer import Peer

SENDER = "02-1234-5678"
POLLS = 1200
POLL_EVERY_S = 0.05


@contextlib.contextmanager
def in_front_of(peer: Peer, folder: Path, **carrier: Any) -> Iterator[Live]:
    """Run the service with a far end as its only carrier, until the end of the block."""
    config = folder / "pabal.toml"
    config.write_text(_configuration(peer.port, carrier), encoding="utf-8")
    with serving(folder / "data", config=config, check_sender_numbers=False, key_rate=0) as live:
        yield live


def _configuration(port: int, carrier: dict[str, Any]) -> str:
    given = {"kind": "smpp", "host": "127.0.0.1", "port": port, "system_id": "pabal", "password": "secret"}
    lines = [f"{name} = {_toml(value)}" for name, value in (given | carrier).items()]
    return "\n".join(["[routes]", 'sms = ["telco"]', 'lms = ["telco"]', "[carriers.telco]", *lines, ""])


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(name)} = {_toml(each)}" for name, each in value.items()) + "}"
    return json.dumps(value)  # texts, numbers and booleans are written alike


def send(client: httpx.Client, kind: str, content: str, *phones: str, **changes: Any) -> str:
    """Send a text (`SMS` or `LMS`) and return the request's id."""
    receivers = [{"phoneNumber": phone} for phone in phones]
    body = {"content": content, "sender": SENDER, "receivers": receivers, **changes}
    answer = client.post(f"/api/message/send{kind}.v1.0", json=body).json()
    assert answer["result"] == "SUCCESS", answer
    return str(answer["item"]["requestId"])


def record(client: httpx.Client, phone: str) -> Any:
    """Return the only message of a receiver, as the history has it."""
    answer = client.post("/api/message/list.v1.0", json={"receivers": phone}).json()
    (only,) = answer["items"]
    return only


def end(client: httpx.Client, phone: str) -> str:
    """Return how the only message of a receiver stands: `completed 1000`, `fail 3018`, `sending`."""
    found = record(client, phone)
    code = found.get("resultCode")
    status = str(found["sendingStatus"]["value"])
    return f"{status} {code['value']}" if code else status


def until(look: Callable[[], Any], expected: Any) -> None:
    """Look again and again until it is so: what a real process does cannot be waited for otherwise."""

    async def poll() -> None:
        for _ in range(POLLS):
            seen = look()
            if seen == expected:
                return
            await asyncio.sleep(POLL_EVERY_S)
        raise AssertionError(f"it never came to be {expected}; last seen: {seen}")

    asyncio.run(poll())
