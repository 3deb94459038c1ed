"""What the scenes of the interface's tests share: bodies to send, channels to send under, a clock that can leap."""

import base64
import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from pabal.domain.when import Instant
from pabal.store.base import Store, Tx
from pabal.web.endpoints import BY_PATH
from tests.virtual import NOON, Answer, Caller, Town, VirtualWorld

Play = Callable[..., None]
P = ParamSpec("P")
T = TypeVar("T")

PHONE = "010-1234-5678"
SENDER = "02-1234-5678"
CATEGORY = "00100010001"
TEMPLATE_CATEGORY = "006003"
JPEG_MAGIC = b"\xff\xd8\xff\xe0"
LINK = {"mobileUrl": "https://shop.example/1"}
BUTTON = {"buttonType": "webLink", "name": "열기", **LINK}
FALLBACK = {"resend": True, "resendPhoneNumber": SENDER}
NO_USER = "010-0000-0003"
"""Not a user of the messaging app: only texts arrive."""


class LeapingWorld(VirtualWorld):
    """A world whose clock can be set forward at once, as that of a machine that has slept."""

    def leap(self, seconds: float) -> None:
        self.begins_at += round(seconds * 1000)


class BreakingStore:
    """A store that fails on demand: while `trouble` is set, whatever it is asked raises that."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.trouble: Exception | None = None
        self.write_trouble: Exception | None = None

    async def write(self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        for trouble in (self.trouble, self.write_trouble):
            if trouble:
                raise trouble.with_traceback(None)
        return await self._store.write(work, *args, **kwargs)

    async def read(self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        if self.trouble:
            raise self.trouble.with_traceback(None)
        return await self._store.read(work, *args, **kwargs)

    async def note(self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.write(work, *args, **kwargs)

    async def close(self) -> None:
        await self._store.close()


class Told(NamedTuple):
    """What a refusal said: its result, and code by field."""

    result: str
    errors: dict[str, str]


def told(answer: Answer) -> Told:
    """Return what a refusal said."""
    errors = answer.body.get("errors", [])
    return Told(answer.result, {each["field"]: each["code"] for each in errors})


def seoul(spelling: str) -> Instant:
    """Return the instant that a Korean clock shows: `2026-11-15 20:49`."""
    return round(datetime.fromisoformat(f"{spelling}+09:00").timestamp() * 1000)


def world_at(spelling: str, seed: int = 0) -> LeapingWorld:
    """Return a world that begins when a Korean clock shows this."""
    return LeapingWorld(seed, seoul(spelling))


def world_at_noon() -> LeapingWorld:
    """Return a world that begins on Sunday, 2026-11-15 at 12:00."""
    return LeapingWorld(begins_at=NOON)


def jpeg(size_bytes: int = 1000) -> str:
    """Return the Base64 of a file of this size that begins as a JPEG does."""
    return base64.b64encode(JPEG_MAGIC.ljust(size_bytes, b"\0")).decode()


def picture(size_bytes: int = 1000, **changes: Any) -> dict[str, Any]:
    """Return an image object."""
    return {"contentType": "image/jpeg", "fileName": "photo.jpg", "body": jpeg(size_bytes), **changes}


def to(*numbers: str, **shared: Any) -> list[dict[str, Any]]:
    """Return receivers of these numbers; without any, the usual one."""
    return [{"phoneNumber": number, **shared} for number in numbers or (PHONE,)]


def sms(*numbers: str, **changes: Any) -> dict[str, Any]:
    """Return the body of an SMS; LMS and MMS take the same."""
    return {"content": "안녕하세요", "sender": SENDER, "receivers": to(*numbers), **changes}


def alimtalk(sender_key: str, *numbers: str, **changes: Any) -> dict[str, Any]:
    """Return the body of an Alimtalk."""
    return {"senderKey": sender_key, "templateCode": "T1", "receivers": to(*numbers), **changes}


def friendtalk(sender_key: str, *numbers: str, **changes: Any) -> dict[str, Any]:
    """Return the body of a friend talk."""
    return {"senderKey": sender_key, "content": "친구야", "receivers": to(*numbers), **changes}


def template(sender_key: str, **changes: Any) -> dict[str, Any]:
    """Return the body of a template."""
    return {
        "senderKey": sender_key,
        "templateCode": "T1",
        "name": "배송 안내",
        "content": "배송이 시작되었습니다.",
        "category": TEMPLATE_CATEGORY,
        **changes,
    }


def channel(**changes: Any) -> dict[str, Any]:
    """Return the body of a registration."""
    return {"category": CATEGORY, "channelId": "@shop", "cellphone": "010-9999-0000", **changes}


async def on_phone(call: Caller, number: str = PHONE, **query: Any) -> list[Any]:
    """Return what a simulated phone holds, newest first."""
    found = await call("simulator/phone", query={"phoneNumber": number, "pageSize": 1000, **query})
    return list(found.items)


async def newest_token(call: Caller, cellphone: str = "010-9999-0000") -> str:
    """Return the token that an administrator's phone received last."""
    (newest, *_) = [item for item in await on_phone(call, cellphone) if item["kind"] == "token"]
    (token,) = re.findall(r"[0-9]{6}", newest["content"])
    return str(token)


async def open_channel(call: Caller, **changes: Any) -> str:
    """Register a channel, prove it, and return its sender key."""
    body = channel(**changes)
    await accepted(call, "sender/create", body)
    token = await newest_token(call, body["cellphone"])
    await accepted(call, "sender/auth", {"channelId": body["channelId"], "token": token})
    (profile,) = (await call("sender/list", query={"channelId": body["channelId"]})).items
    return str(profile["senderKey"])


async def approve_template(call: Caller, sender_key: str, **changes: Any) -> Any:
    """Register a template, have it approved, and return its record."""
    body = template(sender_key, **changes)
    await accepted(call, "template/create", body)
    place = {"senderKey": sender_key, "templateCode": body["templateCode"]}
    requested = await accepted(call, "template/request", place)
    assert requested.item["status"]["value"] == "approved"
    return requested.item


async def ready(town: Town) -> tuple[Caller, str]:
    """Return a caller with a channel, the key of the channel, and an approved template T1 with a button."""
    call = await town.caller()
    sender_key = await open_channel(call)
    await approve_template(call, sender_key, buttons=[BUTTON])
    return call, sender_key


async def accepted(call: Caller, operation: str, body: Any = None, **options: Any) -> Answer:
    """Call, and expect SUCCESS."""
    answer = await call(operation, body, **options)
    assert answer.result == "SUCCESS", answer.body
    return answer


async def records(call: Caller, number: str = PHONE, **filters: Any) -> list[Any]:
    """Return the messages of a receiver, newest first."""
    found = await call("message/list", {"receivers": number, "pageSize": 1000, **filters})
    return list(found.items)


async def record(call: Caller, number: str = PHONE, **filters: Any) -> Any:
    """Return the only message of a receiver."""
    (only,) = await records(call, number, **filters)
    return only


def end(record: Mapping[str, Any]) -> str:
    """Return how a message stands: `completed 1000`, `fail 3003`, `waiting`."""
    code = record.get("resultCode")
    status = str(record["sendingStatus"]["value"])
    return f"{status} {code['value']}" if code else status


def product(record: Mapping[str, Any]) -> str:
    """Return what kind of message a record is of."""
    return str(record["messageProductType"]["value"])


async def figures(call: Caller) -> dict[str, float]:
    """Return every figure of /metrics by its name and labels as they are written."""
    page = (await call("/metrics")).body.decode()
    lines = [line for line in page.splitlines() if line and not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


async def ask(
    town: Town,
    path: str,
    *,
    method: str = "POST",
    headers: Sequence[tuple[str, str]] = (),
    chunks: Sequence[bytes] = (b"",),
    query: bytes = b"",
) -> tuple[Answer, int]:
    """Call with every header and chunk as it is given; return the answer, and how many chunks were read."""
    read = 0
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        nonlocal read
        read += 1
        return {"type": "http.request", "body": chunks[read - 1], "more_body": read < len(chunks)}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "http_version": "1.1",
        "scheme": "http",
        "query_string": query,
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in headers],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 80),
    }
    await town.service(scope, receive, send)
    answered = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    body = json.loads(b"".join(message.get("body", b"") for message in sent[1:]))
    if path in BY_PATH:
        assert body["result"] in {code.name for code in BY_PATH[path].codes}, body
    return Answer(sent[0]["status"], body, answered), read
