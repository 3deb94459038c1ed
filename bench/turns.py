"""The longest turn of the event loop that the most expensive bodies, forms and files cause, in CPU time."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random

from bench import console_turns
from bench.console_turns import Call
from bench.figures import Figure
from bench.server import BenchEnvironment, report_progress
from pabal.app import Service, build_context
from pabal.service.metrics import Metrics
from pabal.settings.settings import load
from pabal.store.engine.sqlite.sqlite_store import SqliteStore
from pabal.world import RealWorld
from tests.fixtures.virtual import Caller
from tests.fixtures.web import friendtalk_body, register_channel, sms_body
from tests.hostile import shapes

TARGET_MS = 50.0
MAX_BYTES = 8 * 1024 * 1024
SHAPES = 25
"""How many random shapes are tried, beyond the known ones."""
REPEATS = 3
SHOWN = 8
ACCOUNT = "bench"


def measure(env: BenchEnvironment) -> list[Figure]:
    """Call a service in this process with each body, form and file, while a task counts the turns."""
    turns = asyncio.run(_measure(env.copy_store(), env.key))
    worst = sorted(turns.items(), key=lambda each: -each[1])
    for name, milliseconds in worst[:SHOWN]:
        report_progress(f"  {milliseconds:.0f} ms: {name}")
    name, longest_ms = worst[0]
    return [
        Figure(
            "turns",
            "longest turn of the event loop, any body, form or file",
            longest_ms,
            " ms",
            TARGET_MS,
            "at most",
            name,
        )
    ]


async def _measure(data: Path, key: str) -> dict[str, float]:
    """Return the longest turn that each body, form or file caused, in milliseconds."""
    settings = load({}, data=data, key_rate=0)
    world = RealWorld()
    store = SqliteStore(settings.store_path, world)
    service = Service(settings, build_context(settings, store, world, Metrics(), None, None), delivers=False)
    await service.start()
    try:
        return {
            name: min([await _longest_turn_ms(call) for _ in range(REPEATS)])
            async for name, call in _calls(service, key)
        }
    finally:
        await service.stop()


async def _calls(service: Service, key: str) -> AsyncIterator[tuple[str, Call]]:
    """Yield the name of each body, form or file, and the call that sends it."""
    caller = Caller(service, key)
    sender_key = await register_channel(caller)
    for name, operation, raw in _bodies(sender_key):
        yield name, partial(caller, operation, raw)
    browser = await console_turns.sign_in(service, service.context, ACCOUNT)
    for name, call in console_turns.calls(browser, await browser.csrf(), sender_key):
        yield name, call


async def _longest_turn_ms(call: Call) -> float:
    turns: list[float] = [0.0]

    async def count_turns() -> None:
        ended = time.thread_time()
        while True:
            await asyncio.sleep(0)
            now = time.thread_time()
            turns.append(now - ended)
            ended = now

    counting = asyncio.create_task(count_turns())
    await asyncio.sleep(0)
    await call()
    await asyncio.sleep(0)
    counting.cancel()
    with suppress(asyncio.CancelledError):
        await counting
    return max(turns) * 1000


def _bodies(sender_key: str) -> Iterator[tuple[str, str, bytes]]:
    """Yield name, operation and body of each: the largest of known kinds, then random ones."""
    sms, friendtalk = "message/sendSMS", "message/sendFriendtalk"
    yield "one text of 8 MB", sms, _fill(sms_body(content=""), '"content": "', "가")
    yield "8 MB of numbers", sms, _fill(sms_body(sendDate=5, x=[1]), '"x": [', "1.5,")
    yield "8 MB of unknown objects", sms, _fill(sms_body(sendDate=5, x=[1]), '"x": [', '{"a":[]},')
    yield "8 MB of empty receivers, one field wrong", sms, _fill(sms_body(sendDate=5), '"receivers": [', "{},")
    yield (
        "8 MB of empty buttons",
        friendtalk,
        _fill(friendtalk_body(sender_key, buttons=[{}]), '"buttons": [', "{},"),
    )
    yield "8 MB of receivers", sms, _fill(sms_body(), '"receivers": [', '{"phoneNumber":""},')
    values = sms_body(receivers=[{"phoneNumber": "01000000000", "templateData": {"a": 1}}])
    yield "8 MB of values of one receiver", sms, _fill(values, '"templateData": {', '"a":"",')
    many = [{"phoneNumber": f"010{number:08}"} for number in range(100_000)]
    yield "100,000 receivers, one field wrong", sms, json.dumps(sms_body(sendDate=5, receivers=many)).encode()
    own = [each | {"content": "가" * 900 + f"#{{{number}}}"} for number, each in enumerate(many[:1000])]
    for number, each in enumerate(own):
        each["templateData"] = {str(number): "나" * 50, "x": "x" * 4000}  # type: ignore[assignment]
    body = friendtalk_body(sender_key, receivers=own)
    yield "1,000 own texts, 7 MB", friendtalk, json.dumps(body, ensure_ascii=False).encode()
    rng = Random(13)
    for number in range(SHAPES):
        operation = rng.choice((sms, friendtalk, "message/sendLMS"))
        genes = shapes.random_genes(shapes.SEND_GENES, rng)
        raw, receivers = shapes.build_send(operation, sender_key, genes, MAX_BYTES)
        yield f"shape {number}: {operation}, {receivers:,} receivers, {len(raw) / 1e6:.1f} MB", operation, raw


def _fill(body: object, after: str, piece: str) -> bytes:
    """Return a body of the largest size, with a piece repeated behind a text of it."""
    raw = json.dumps(body, ensure_ascii=False)
    head, tail = raw[: raw.index(after) + len(after)], raw[raw.index(after) + len(after) :]
    room = MAX_BYTES - len(raw.encode())
    return (head + piece * (room // len(piece.encode())) + tail).encode()
