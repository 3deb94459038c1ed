"""The service, killed while the mail server has a mail but has not answered: the mail arrives, at most twice."""

import asyncio
import email
from pathlib import Path
from typing import Any

import pytest

from pabal.domain.events.notice import NoticeKind
from pabal.domain.people.user import Role
from pabal.service.access.users import users
from pabal.settings.settings import load
from pabal.store.engine.base import Tx
from pabal.store.engine.migrate import migrate
from pabal.store.events import notices
from pabal.store.open_store import open_store
from pabal.world import RealWorld
from tests.fixtures.live import LiveService, serving
from tests.fixtures.mail_servers import Mailbox, serving_mail, serving_script
from tests.fixtures.mailers import confirm_directly
from tests.fixtures.password_hashes import quick_hash

ANSWERS = (b"250 localhost\r\n", b"250 OK\r\n", b"250 OK\r\n", b"354 go ahead\r\n")
DELIVERY_S = 60.0


def settings_of(port: int) -> dict[str, Any]:
    return {
        "smtp_host": "127.0.0.1",
        "smtp_port": port,
        "smtp_tls": "none",
        "smtp_sender": "pabal@example.com",
        "public_url": "https://pabal.example.com",
        "mail_pause_minutes": 0,
    }


def tell_operator(tx: Tx) -> None:
    """Have an operator told that a carrier is down."""
    now = RealWorld().now()
    migrate(tx, now)
    users.create(tx, None, "kim", Role.OPERATOR, quick_hash("correct horse battery"), now)
    confirm_directly(tx, "kim")
    data = {"carrier": "telco", "state": "down", "since": "2026-11-15 12:00:00"}
    notices.add(tx, bytes(16), NoticeKind.CARRIER, None, data, now)


async def prepare(data: Path) -> None:
    store = open_store(load({}, data=data), RealWorld())
    await store.write(tell_operator)
    await store.close()


@pytest.mark.torture
@pytest.mark.slow
def test_mail_in_flight_at_a_kill_is_sent_again_with_its_id(tmp_path: Path) -> None:
    asyncio.run(_run(tmp_path / "data"))


async def _run(data: Path) -> None:
    await prepare(data)
    taken: list[bytes] = []
    live: list[LiveService] = []
    killed = asyncio.Event()

    async def take_and_kill(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 ready\r\n")
        for answer in ANSWERS:
            await reader.readline()
            writer.write(answer)
        taken.append(await reader.readuntil(b"\r\n.\r\n"))
        live[0].process.kill()
        killed.set()

    async with serving_script(take_and_kill) as port:
        with await asyncio.to_thread(_enter, serving(data, **settings_of(port)), live):
            await asyncio.wait_for(killed.wait(), DELIVERY_S)
            await asyncio.to_thread(live[0].process.wait)
    box = Mailbox()
    async with serving_mail(box) as port:
        with await asyncio.to_thread(_enter, serving(data, **settings_of(port)), live):
            assert await asyncio.to_thread(box.arrived.wait, DELIVERY_S)
            await asyncio.to_thread(live[1].stop)
        with await asyncio.to_thread(_enter, serving(data, **settings_of(port)), live):
            await asyncio.to_thread(live[2].stop)

    (repeat,) = box.mails
    assert repeat["Message-ID"] == email.message_from_bytes(taken[0])["Message-ID"]
    assert "telco" in repeat["Subject"]


class _Entered:
    """A context manager that was entered in another thread."""

    def __init__(self, manager: Any) -> None:
        self._manager = manager

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: Any) -> None:
        self._manager.__exit__(*error)


def _enter(manager: Any, live: list[LiveService]) -> _Entered:
    live.append(manager.__enter__())
    return _Entered(manager)
