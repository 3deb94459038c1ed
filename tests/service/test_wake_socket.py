"""The socket between API process and delivery: what one process sets, the other waits for."""

import asyncio
import socket
from pathlib import Path

import pytest

from pabal.build_context import build_context
from pabal.service.metrics import Metrics
from pabal.service.sending.campaigns.campaigns import WAKE_EVENT
from pabal.service.work import RemoteEvent, WakeSocket, listen_for_wake_ups, wake_through_socket
from pabal.store.open_store import open_store
from pabal.world import RealWorld
from tests.fixtures.virtual import settings_for


def make_pair() -> tuple[socket.socket, socket.socket]:
    one, other = socket.socketpair(type=socket.SOCK_DGRAM)
    one.setblocking(False)
    other.setblocking(False)
    return one, other


def test_event_of_the_interface_is_set_where_it_is_waited_for(tmp_path: Path) -> None:
    async def scenario() -> None:
        settings, world = settings_for(tmp_path), RealWorld()
        store = open_store(settings, world)
        delivering = build_context(settings, store, world, Metrics())
        near, far = make_pair()
        interface = wake_through_socket(delivering, near)
        ignore = listen_for_wake_ups(delivering, far)
        awaited = [
            delivering.wake_events.setdefault(WAKE_EVENT, asyncio.Event()),
            delivering.new_events,
            delivering.webhooks.numbered,
            delivering.webhooks.changed,
        ]

        interface.wake([WAKE_EVENT, "no carrier"])
        interface.new_events.set()
        interface.webhooks.announce_change()
        await asyncio.wait_for(asyncio.gather(*(event.wait() for event in awaited)), 60)

        ignore()
        near.close()
        far.close()
        await store.close()

    asyncio.run(scenario())


def test_names_are_sent_once_in_a_turn() -> None:
    async def scenario() -> None:
        near, far = make_pair()
        event = RemoteEvent(WakeSocket(near).wake, "telco")

        for _ in range(100):
            event.set()
        await asyncio.sleep(0)

        assert far.recv(1000) == b"telco"
        with pytest.raises(BlockingIOError):
            far.recv(1000)
        near.close()
        far.close()

    asyncio.run(scenario())


def test_process_that_does_not_listen_stops_nobody() -> None:
    async def scenario() -> None:
        near, far = make_pair()
        event = RemoteEvent(WakeSocket(near).wake, "telco")

        for _ in range(2000):  # more than fit into the socket
            event.set()
            await asyncio.sleep(0)

        assert far.recv(1000) == b"telco"
        near.close()
        far.close()

    asyncio.run(scenario())
