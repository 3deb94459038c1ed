"""A PostgreSQL server that does not respond: writes time out, and none is confirmed too early."""

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from pabal.service.sending import accept
from pabal.service.sending.accept import AcceptedRequest
from pabal.store.engine.base import Priority, StoreUnavailable, Tx, transaction
from pabal.store.engine.group_commit import CLOSE_TIMEOUT_S
from pabal.store.engine.write_queue import StoreLimits
from tests.faults.clients import wait_until
from tests.faults.servers import ROLE, DedicatedServer, dedicated_folder, store_at
from tests.fixtures.cutting_proxy import SOCKET
from tests.fixtures.postgres_store import new_request, open_postgres
from tests.fixtures.rows import request_id
from tests.fixtures.store_modes import add_word, list_words

pytestmark = pytest.mark.real_time

WAITING_FOR_REPLICA = f"select pid from pg_stat_activity where usename = '{ROLE}' and wait_event = 'SyncRep'"
TIMEOUT_S = 1.0
"""Of a store that is to time out; what it does in time must not take so long on a busy machine."""
ACTIVE = f"usename = '{ROLE}' and state = 'active'"


class ServerSocket:
    """A socket that leads to the server, or to a listener that accepts connections and never responds."""

    def __init__(self, folder: Path, server: DedicatedServer) -> None:
        self.address = store_at(folder, connect_timeout="2")
        self._socket = folder / SOCKET
        self._server = server.folder / SOCKET
        self._silent = folder / "silent"
        self.connect_to_server()

    def connect_to_server(self) -> None:
        self._socket.unlink(missing_ok=True)
        self._socket.symlink_to(self._server)

    def connect_to_silence(self) -> None:
        self._socket.unlink()
        self._socket.symlink_to(self._silent)


@pytest.fixture
def server_socket(server: DedicatedServer) -> Iterator[ServerSocket]:
    with dedicated_folder() as folder, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "silent"))
        listener.listen(100)
        yield ServerSocket(folder, server)


@pytest.mark.slow
async def test_all_waiting_callers_fail_at_once_without_a_connection(
    server: DedicatedServer, server_socket: ServerSocket
) -> None:
    """They do not fail one after the other, each after a timeout of its own."""
    async with open_postgres(server_socket.address, writers=1) as store:
        await store.write(add_word, "a")
        server_socket.connect_to_silence()
        server.drop_connections()
        async with asyncio.timeout(60):
            answers = await asyncio.gather(
                *(store.write(add_word, f"{number}") for number in range(100)), return_exceptions=True
            )
        assert [type(answer) for answer in answers] == [StoreUnavailable] * 100
        server_socket.connect_to_server()
        await store.write(add_word, "b")
        assert await store.read(list_words) == ["a", "b"]


async def test_write_times_out_and_is_not_done_later_if_not_begun(server: DedicatedServer) -> None:
    async with open_postgres(server.store, writers=1, timeout_s=TIMEOUT_S) as store:
        with server.without_replica():
            first = asyncio.create_task(store.write(add_word, "begun"))
            await wait_until(lambda: server.execute(WAITING_FOR_REPLICA) != [])
            second = asyncio.create_task(store.write(add_word, "not begun"))
            with pytest.raises(StoreUnavailable, match="no answer in time"):
                await first
            with pytest.raises(StoreUnavailable, match="no answer in time"):
                await second
        await store.write(add_word, "after")
        assert await store.read(list_words) == ["begun", "after"]


async def test_read_times_out(server: DedicatedServer) -> None:

    def sleep(tx: Tx) -> None:
        tx.fetch_all("select pg_sleep(3)")

    async with open_postgres(
        server.store, limits=StoreLimits(readers=1, max_waiting=2), timeout_s=TIMEOUT_S
    ) as store:
        answers = await asyncio.gather(*(store.read(sleep) for _ in range(3)), return_exceptions=True)
        assert [str(answer) for answer in answers] == [
            "no answer in time",
            "no answer in time",
            "too many are waiting",
        ]
        await wait_until(lambda: server.execute(f"select 1 from pg_stat_activity where {ACTIVE}") == [])
        assert await store.read(list_words) == []


async def test_writes_beyond_the_queue_limit_fail_at_once(server: DedicatedServer) -> None:
    """Timed-out writes count too, as long as they are in the queue."""
    async with open_postgres(
        server.store, writers=1, limits=StoreLimits(max_waiting=5), timeout_s=TIMEOUT_S
    ) as store:
        with server.without_replica():
            answers = await asyncio.gather(
                *(store.write(add_word, f"{n}") for n in range(5)), return_exceptions=True
            )
            assert {str(answer) for answer in answers} == {"no answer in time"}
            with pytest.raises(StoreUnavailable, match="too many are waiting"):
                await store.write(add_word, "one too many")
        await wait_until(lambda: server.execute(WAITING_FOR_REPLICA) == [])


async def test_slow_transaction_has_no_timeout(server: DedicatedServer) -> None:

    @transaction(priority=Priority.PATIENT)
    def sleep(tx: Tx) -> str:
        tx.fetch_all("select pg_sleep(0.5)")
        return "done"

    async with open_postgres(server.store, timeout_s=0.1) as store:
        assert await store.write(sleep) == "done"
        assert await store.read(sleep) == "done"


@pytest.mark.torture
@pytest.mark.slow
async def test_close_does_not_wait_for_an_unresponsive_server(server: DedicatedServer) -> None:
    async with open_postgres(server.store) as store:
        with server.without_replica():
            writing = asyncio.create_task(store.write(accept.store_request, new_request(1)))
            reading = asyncio.create_task(store.read(lambda tx: tx.fetch_all("select pg_sleep(60)")))
            await wait_until(lambda: server.execute(WAITING_FOR_REPLICA) != [])
            async with asyncio.timeout(2 * CLOSE_TIMEOUT_S):
                await store.close()
            results = await asyncio.gather(writing, reading, return_exceptions=True)
            assert [isinstance(each, StoreUnavailable) for each in results] == [True, True]


@pytest.mark.parametrize("key", [None, "k1"])
async def test_send_is_not_answered_before_it_is_on_the_replica(server: DedicatedServer, key: str | None) -> None:
    """Its connection is cut while the commit waits for the replica and is on the primary's disk only."""
    async with open_postgres(server.store) as store:
        with server.without_replica():
            sending = asyncio.create_task(store.write(accept.store_request, new_request(1, key)))
            await wait_until(lambda: server.execute(WAITING_FOR_REPLICA) != [])
            ((first,),) = server.execute(WAITING_FOR_REPLICA)
            server.drop_connections()
            await wait_until(lambda: server.execute(WAITING_FOR_REPLICA) not in ([], [(first,)]))
            assert server.execute("select count(*) from requests") == [(1,)]
            assert not sending.done()
        assert await sending == AcceptedRequest(request_id(1), True)
    assert server.execute("select count(*) from messages") == [(2,)]


async def test_server_can_time_out_a_frozen_transaction(server: DedicatedServer) -> None:

    def read_states(tx: Tx) -> list[tuple[str]]:
        tx.fetch_one("select count(*) from words")
        states = "select state from pg_stat_activity where application_name = 'pabal' and state <> 'idle'"
        return [(str(row[0]),) for row in server.execute(states)]

    async with open_postgres(server.store, writers=1) as store:
        assert await store.write(read_states) == [("idle in transaction",)], (
            "so idle_in_transaction_session_timeout applies"
        )
