"""The SMPP carrier over real sockets, plain and with TLS."""

import asyncio
import contextlib
import logging
import ssl
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from pabal.carriers.base import Accepted, Receipt
from pabal.carriers.smpp import protocol
from pabal.carriers.smpp.carrier import SmppCarrier
from pabal.carriers.smpp.pdu import Pdu
from pabal.domain.sends.message import Outcome
from pabal.world import RealWorld
from tests.fakes.smsc.scripted import ScriptedSmsc, SmscConnection, accept, receipt
from tests.fixtures.certificates import AUTHORITY, TLS, server_context
from tests.fixtures.smpp import attempts, smpp_settings
from tests.fixtures.verdicts import submit

TIMEOUT_S = 30.0
COUNT = 300

pytestmark = [pytest.mark.real_time, pytest.mark.usefixtures("loop_factory")]


async def logged(message: str) -> None:
    is_logged = asyncio.Event()

    class Listener(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.getMessage() == message:
                is_logged.set()

    log, listener = logging.getLogger("pabal.smpp"), Listener()
    level = log.level
    log.addHandler(listener)
    log.setLevel(logging.INFO)
    try:
        await is_logged.wait()
    finally:
        log.removeHandler(listener)
        log.setLevel(level)


def accept_and_report(connection: SmscConnection, request: Pdu) -> None:
    accept(connection, request)
    connection.deliver(request.sequence, receipt(str(request.sequence)))


@contextlib.asynccontextmanager
async def listening(smsc: ScriptedSmsc, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(smsc.new_connection, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for connection in smsc.open_connections:
            connection.transport.abort()
        await server.wait_closed()


async def sent_and_reported(smsc: ScriptedSmsc, port: int, **settings: Any) -> None:
    """Send some messages, wait for their receipts, and stop."""
    stored: list[Receipt] = []
    has_all = asyncio.Event()

    async def on_receipts(receipts: Sequence[Receipt]) -> None:
        stored.extend(receipts)
        if len(stored) == COUNT:
            has_all.set()

    carrier = SmppCarrier(smpp_settings(port=port, **settings), RealWorld(), lambda _: None)
    smsc.handlers[protocol.SUBMIT_SM] = accept_and_report
    running = asyncio.create_task(carrier.run(on_receipts))
    async with asyncio.timeout(TIMEOUT_S):
        await logged("SMPP connection bound")
        verdicts = await submit(carrier, attempts(COUNT))
        await has_all.wait()
        running.cancel()
        await asyncio.wait([running])

    assert verdicts == [Accepted(str(number)) for number in range(1, COUNT + 1)]
    assert [each.outcome for each in stored] == [Outcome.DELIVERED] * COUNT
    assert len(smsc.received(protocol.UNBIND)) == 1
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_it_works_over_tls() -> None:
    smsc = ScriptedSmsc()
    async with listening(smsc, server_context()) as port:
        await sent_and_reported(smsc, port, host="localhost", tls=True, tls_ca=AUTHORITY)


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"tls_ca": TLS / "stranger.pem", "host": "localhost"}, "issuer"),
        ({"host": "localhost"}, "issuer"),
        ({"tls_ca": AUTHORITY, "host": "127.0.0.1"}, "mismatch"),
    ],
    ids=["of another authority", "of an unknown authority", "of another name"],
)
async def test_untrusted_smsc_gets_no_password(settings: dict[str, Any], word: str) -> None:
    smsc = ScriptedSmsc()
    async with listening(smsc, server_context()) as port:
        carrier = SmppCarrier(smpp_settings(port=port, tls=True, **settings), RealWorld(), lambda _: None)
        running = asyncio.create_task(carrier.run(nobody))
        async with asyncio.timeout(TIMEOUT_S):
            await logged("SMPP connection failed or lost; reconnecting")
        running.cancel()
        await asyncio.wait([running])

        assert carrier.problem.startswith("TLS: ")
        assert word in carrier.problem
        assert not carrier.is_connected
        assert smsc.received_pdus == []


async def nobody(receipts: Sequence[Receipt]) -> None:
    raise AssertionError
