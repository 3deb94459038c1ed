"""A PostgreSQL that neither answers nor goes away: nobody waits for ever, and nothing is believed too early."""

import asyncio
import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from pabal.service import accept
from pabal.service.accept import Kept
from pabal.store.base import StoreAway
from pabal.store.postgres import PostgresStore
from tests.faults.clients import until
from tests.faults.servers import ROLE, OwnServer, own_folder
from tests.store.cutting import SOCKET
from tests.store.kept import request_id
from tests.store.modes import put, words
from tests.store.scenes import play, promise

WAITING = f"select pid from pg_stat_activity where usename = '{ROLE}' and wait_event = 'SyncRep'"


@contextlib.contextmanager
def silence() -> Iterator[Path]:
    """Yield the folder of a socket at which everyone may call and nobody answers."""
    with own_folder() as folder, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / SOCKET))
        listener.listen(100)
        yield folder


def test_when_no_connection_can_be_made_all_who_wait_are_told_at_once(server: OwnServer) -> None:
    """Not one after the other, each after a time-out of its own."""

    async def scene(store: PostgresStore) -> None:
        await store.write(put, "a")
        folder = server.folder
        with silence() as silent:
            os.rename(folder / SOCKET, folder / "moved")
            os.symlink(silent / SOCKET, folder / SOCKET)
            try:
                server.cut_through(folder / "moved")
                began = asyncio.get_running_loop().time()
                answers = await asyncio.gather(
                    *(store.write(put, f"{number}") for number in range(20)), return_exceptions=True
                )
                took_s = asyncio.get_running_loop().time() - began
            finally:
                os.unlink(folder / SOCKET)
                os.rename(folder / "moved", folder / SOCKET)
        assert [type(answer) for answer in answers] == [StoreAway] * 20
        assert took_s < 10
        await store.write(put, "b")
        assert await store.read(words) == ["a", "b"]

    play(f"{server.store}&connect_timeout=2", scene, writers=1)


@pytest.mark.parametrize("key", [None, "k1"])
def test_a_send_that_is_not_on_the_replica_is_not_answered_though_it_is_found(
    server: OwnServer, key: str | None
) -> None:
    """Its connection is cut while its commit waits for the replica; it is on this server's disk alone."""

    async def scene(store: PostgresStore) -> None:
        server.set("synchronous_standby_names", "nobody")
        try:
            sending = asyncio.create_task(store.write(accept.keep, promise(1, key)))
            await until(lambda: server.say(WAITING) != [])
            ((first,),) = server.say(WAITING)
            server.cut()
            await until(lambda: server.say(WAITING) not in ([], [(first,)]))
            assert server.say("select count(*) from requests") == [(1,)]
            assert not sending.done()
        finally:
            server.set("synchronous_standby_names", None)
        assert await sending == Kept(request_id(1), True)

    play(server.store, scene)
    assert server.say("select count(*) from messages") == [(2,)]
