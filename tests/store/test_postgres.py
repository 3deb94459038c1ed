"""The store on PostgreSQL: what is its own, of collisions, lost connections and commits that nobody saw end."""

import asyncio
import os
import threading
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from pabal.app import AlreadyRunning, only_deliverer
from pabal.config import load
from pabal.domain.message import Outcome
from pabal.domain.profile import MAX_TOKENS_AN_HOUR
from pabal.domain.when import HOUR
from pabal.service import accept
from pabal.service.accept import Kept, Promise, Repeatable
from pabal.service.profiles import Registration, _register
from pabal.store import accounts, answers, messages, receipts, requests
from pabal.store.base import StoreAway, Tx, knows_itself
from pabal.store.postgres import MOST_RERUNS, PostgresStore
from pabal.store.receipts import Arrived
from pabal.world import RealWorld
from tests import postgres
from tests.postgres import Server
from tests.store.cutting import Cut, Cutter, cutting
from tests.store.kept import ACCOUNT, CARRIER, message_id, request_id, sms
from tests.store.modes import make_table, put, words
from tests.virtual import NOON

Scene = Callable[[PostgresStore], Awaitable[None]]


@pytest.fixture
def address() -> str:
    """A database with every table, and an empty one of words."""
    found = postgres.emptied()
    play(found, lambda store: store.write(make_table))
    return found


def play(address: str, scene: Callable[[PostgresStore], Awaitable[Any]], **options: Any) -> None:
    async def whole() -> None:
        store = PostgresStore(address, RealWorld(), **options)
        try:
            await scene(store)
        finally:
            await store.close()

    asyncio.run(whole())


def outside(address: str, sql: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(address, autocommit=True) as connection:
        said = connection.execute(sql.encode())
        return said.fetchall() if said.description else []


def kept(address: str) -> list[str]:
    return [row[0] for row in outside(address, "select word from words order by number")]


def cut_all(address: str) -> None:
    """End every connection of the service to the database, as a server that is shut down does."""
    ours = "select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = 'pabal'"
    outside(address, f"{ours} and datname = current_database()")


def change(tx: Tx, word: str) -> int:
    return tx.run("update words set word = word || ? where number = 1", (word,))


def test_a_write_that_collides_with_another_is_run_again_on_what_the_other_left(address: str) -> None:
    runs: list[None] = []

    def collide(tx: Tx) -> list[str]:
        runs.append(None)
        words(tx)
        if len(runs) == 1:
            outside(address, "update words set word = 'b'")
        change(tx, "c")
        return words(tx)

    async def scene(store: PostgresStore) -> None:
        await store.write(put, "a")

        assert await store.write(collide) == ["bc"]

    play(address, scene)
    assert (len(runs), kept(address)) == (2, ["bc"])


def test_a_write_that_collides_again_and_again_is_given_up_and_leaves_nothing(address: str) -> None:
    runs: list[None] = []

    def collide(tx: Tx) -> None:
        runs.append(None)
        words(tx)
        outside(address, "update words set word = 'b'")
        change(tx, "c")

    async def scene(store: PostgresStore) -> None:
        await store.write(put, "a")

        with pytest.raises(StoreAway, match="SerializationFailure"):
            await store.write(collide)

        await store.write(put, "next")

    play(address, scene)
    assert (len(runs), kept(address)) == (1 + MOST_RERUNS, ["b", "next"])


def test_of_two_who_wait_for_each_other_ours_is_run_again(address: str) -> None:
    holds, is_waiting = threading.Event(), threading.Event()
    runs: list[None] = []

    def other() -> None:
        with psycopg.connect(address) as connection:
            connection.execute("update words set word = 'y!' where word = 'y'")
            holds.set()
            is_waiting.wait()
            connection.execute("update words set word = 'x!' where number = 1")

    def entangled(tx: Tx) -> None:
        runs.append(None)
        tx.run("set local deadlock_timeout = '50ms'")  # ours is found out first
        change(tx, "?")
        is_waiting.set()
        tx.run("update words set word = word || '?' where number = 2")

    async def scene(store: PostgresStore) -> None:
        await store.write(put, "x")
        await store.write(put, "y")
        thread = threading.Thread(target=other)
        thread.start()
        await asyncio.to_thread(holds.wait)

        await store.write(entangled)

        thread.join()

    play(address, scene)
    assert len(runs) >= 2
    assert kept(address) == ["x!?", "y!?"]


def test_a_connection_that_was_lost_while_nobody_used_it_is_made_again(address: str) -> None:
    async def scene(store: PostgresStore) -> None:
        await store.write(put, "a")
        assert await store.read(words) == ["a"]
        cut_all(address)

        assert await store.read(words) == ["a"]
        await store.write(lambda tx: (words(tx), put(tx, "b")))

        assert await store.read(words) == ["a", "b"]

    play(address, scene, writers=1, readers=1)


def test_a_write_whose_connection_is_lost_before_its_commit_is_run_again(address: str) -> None:
    runs: list[None] = []

    def lose_it(tx: Tx) -> int:
        runs.append(None)
        number = put(tx, "once")
        if len(runs) == 1:
            cut_all(address)
        words(tx)
        return number

    async def scene(store: PostgresStore) -> None:
        await store.write(lose_it)

    play(address, scene)
    assert (len(runs), kept(address)) == (2, ["once"])


@pytest.fixture
def cutter(address: str) -> Iterator[Cutter]:
    folder = postgres.server().folder / f"cut_{os.getpid()}"
    folder.mkdir(exist_ok=True)
    with cutting(postgres.server().folder, folder) as found:
        yield found
    (folder / ".s.PGSQL.5432").unlink()


@pytest.mark.parametrize(("cut", "left"), [(Cut.BEFORE, []), (Cut.AFTER, ["nobody knows"])])
def test_of_a_commit_that_nobody_saw_end_the_caller_is_told_so(
    address: str, cutter: Cutter, cut: Cut, left: list[str]
) -> None:
    async def scene(store: PostgresStore) -> None:
        cutter.cuts.append(cut)
        with pytest.raises(StoreAway):
            await store.write(put, "nobody knows")

        await store.write(put, "next")

    play(cutter.address(address), scene)
    assert kept(address) == [*left, "next"]


def promise(number: int, key: str | None = None) -> Promise:
    one = request_id(number)
    sending = sms(["01012345678", "01087654321"])
    return Promise(
        one,
        ACCOUNT,
        requests.row_of(one, ACCOUNT, sending, NOON),
        messages.rows_of(one, ACCOUNT, sending.product, sending.receivers),
        None,
        CARRIER,
        0,
        NOON,
        NOON,
        Repeatable(key, b"digest") if key else None,
        0,
    )


def counted(address: str) -> tuple[int, ...]:
    return tuple(
        outside(address, f"select count(*) from {name}")[0][0] for name in ("requests", "messages", "jobs")
    )


@pytest.mark.parametrize("key", [None, "k1"])
@pytest.mark.parametrize("cuts", [[Cut.BEFORE], [Cut.AFTER], [Cut.AFTER, Cut.BEFORE], [Cut.BEFORE, Cut.AFTER]])
def test_a_send_whose_commit_nobody_saw_end_is_kept_once_and_answered_as_kept(
    address: str, cutter: Cutter, cuts: list[Cut], key: str | None
) -> None:
    async def scene(store: PostgresStore) -> None:
        cutter.cuts.extend(cuts)

        first, second = await asyncio.gather(
            store.write(accept.keep, promise(1, key)), store.write(accept.keep, promise(2))
        )

        assert (first, second) == (Kept(request_id(1), True), Kept(request_id(2), True))

    play(cutter.address(address), scene)
    assert cutter.cuts == []
    assert counted(address) == (2, 4, 4)


def test_a_send_that_was_delivered_before_it_was_answered_is_not_sent_again(address: str, cutter: Cutter) -> None:
    """Its jobs are gone by then; what is left of it is its request."""
    is_first = True

    def deliver_first(tx: Tx, promise: Promise) -> Kept:
        nonlocal is_first
        if tx.is_again and is_first:
            is_first = False
            outside(address, "delete from jobs")
        return accept.keep(tx, promise)

    async def scene(store: PostgresStore) -> None:
        cutter.cuts.append(Cut.AFTER)
        assert await store.write(knows_itself(deliver_first), promise(1)) == Kept(request_id(1), True)

    play(cutter.address(address), scene)
    assert counted(address) == (1, 2, 0)


def test_of_two_with_the_same_key_at_the_same_time_one_is_kept_and_both_get_its_answer(address: str) -> None:
    both_looked = threading.Barrier(2)
    looked: set[bytes] = set()

    def keep_after_both_looked(tx: Tx, promise: Promise) -> Kept:
        answers.find(tx, 0, ACCOUNT, "k1", 0)
        if promise.request_id not in looked:
            looked.add(promise.request_id)
            both_looked.wait()
        return accept.keep(tx, promise)

    async def scene(store: PostgresStore) -> None:
        other = PostgresStore(address, RealWorld())
        first, second = await asyncio.gather(
            store.write(keep_after_both_looked, promise(1, "k1")),
            other.write(keep_after_both_looked, promise(2, "k1")),
        )
        await other.close()

        assert first.request_id == second.request_id
        assert {first.is_new, second.is_new} == {True, False}

    play(address, scene)
    assert counted(address) == (1, 2, 2)


def test_of_two_registrations_at_the_same_time_the_second_counts_the_tokens_of_the_first(address: str) -> None:
    both_looked = threading.Barrier(2)
    looked: set[str] = set()

    def register(tx: Tx, account_id: int, channel_id: str) -> None:
        words(tx)
        if channel_id not in looked:
            looked.add(channel_id)
            both_looked.wait()
        _register(tx, account_id, Registration(channel_id, "00100010001", "01012345678"), b"", NOON, NOON + HOUR)

    async def scene(store: PostgresStore) -> None:
        account_id = await store.write(accounts.ensure_account, "acme", NOON)
        for number in range(MAX_TOKENS_AN_HOUR - 1):
            looked.add(f"@{number}")
            await store.write(register, account_id, f"@{number}")
        other = PostgresStore(address, RealWorld())
        answers = await asyncio.gather(
            store.write(register, account_id, "@a"), other.write(register, account_id, "@b"), return_exceptions=True
        )
        await other.close()

        assert sorted(type(answer).__name__ for answer in answers) == ["NoneType", "Refused"]

    play(address, scene)
    assert outside(address, "select count(*) from tokens") == [(MAX_TOKENS_AN_HOUR,)]


def test_of_two_parts_reported_at_the_same_time_the_second_report_ends_the_message(address: str) -> None:
    both_looked = threading.Barrier(2)
    looked: set[str] = set()

    def arrive(tx: Tx, reference: str) -> Arrived:
        words(tx)
        if reference not in looked:
            looked.add(reference)
            both_looked.wait()
        return receipts.arrive(tx, CARRIER, [(reference, Outcome.DELIVERED)], NOON)

    async def scene(store: PostgresStore) -> None:
        one = message_id(1)
        await store.write(accept.keep, promise(1))
        await store.write(receipts.expect, CARRIER, [("r1", one, 2), ("r2", one, 2)])
        other = PostgresStore(address, RealWorld())
        first, second = await asyncio.gather(store.write(arrive, "r1"), other.write(arrive, "r2"))
        await other.close()

        assert first.ended + second.ended == [(one, Outcome.DELIVERED)]

    play(address, scene)


def test_while_the_server_is_down_the_store_is_away_and_comes_back_by_itself() -> None:
    server = Server(Path(os.environ[postgres.PLACE]) / f"own_{os.getpid()}")
    server.make()
    server.start()

    async def scene(store: PostgresStore) -> None:
        await store.write(make_table)
        await store.write(put, "before")
        await asyncio.to_thread(server.stop, "immediate")

        answers = await asyncio.gather(
            *(store.write(put, f"{number}") for number in range(5)), store.read(words), return_exceptions=True
        )
        assert [type(answer) for answer in answers] == [StoreAway] * 6

        await asyncio.to_thread(server.start)
        await store.write(put, "after")
        assert await store.read(words) == ["before", "after"]

    try:
        play(server.address(), scene)
        with pytest.raises(StoreAway) as away:
            PostgresStore(f"{server.address('absent')}&password=secret", RealWorld())
    finally:
        server.stop()
    assert "absent" in str(away.value)
    assert "secret" not in str(away.value)
    with pytest.raises(StoreAway):
        PostgresStore(server.address(), RealWorld())


def test_an_address_that_makes_no_sense_is_away_and_not_shown() -> None:
    with pytest.raises(StoreAway) as away:
        PostgresStore("postgresql://pabal:secret@host/db?nonsense=1", RealWorld())

    assert "secret" not in str(away.value)


def test_one_process_delivers_from_a_database(address: str) -> None:
    settings = load({}, store=address)

    refused = pytest.raises(AlreadyRunning, match="another pabal runs")
    with only_deliverer(settings), refused, only_deliverer(settings, within_s=0):
        raise AssertionError
    with only_deliverer(settings):
        pass


def test_what_is_answered_is_on_disk_even_where_the_database_says_otherwise(address: str) -> None:
    def setting(tx: Tx, name: str) -> Any:
        row = tx.row(f"show {name}")
        return row[0] if row else None

    async def scene(store: PostgresStore) -> None:
        assert await store.write(setting, "synchronous_commit") == "on"
        assert await store.write(setting, "transaction_isolation") == "repeatable read"
        assert await store.read(setting, "transaction_isolation") == "repeatable read"
        assert await store.read(setting, "transaction_read_only") == "on"

    assert outside(address, "show synchronous_commit") == [("off",)]
    play(address, scene)


def test_the_queue_leaves_room_for_changes_and_is_tidied_up_eagerly(address: str) -> None:
    ((options,),) = outside(address, "select reloptions from pg_class where relname = 'jobs'")

    assert "fillfactor=70" in options
    assert any(each.startswith("autovacuum_vacuum_scale_factor=") for each in options)


def test_texts_that_cannot_be_kept_are_a_fault_of_the_caller(address: str) -> None:
    def put_each(tx: Tx, word: str) -> None:
        tx.rows_each("insert into words (word) values {rows}", [(word,)])

    async def scene(store: PostgresStore) -> None:
        for work in (put, put_each):
            with pytest.raises(psycopg.DataError):
                await store.write(work, "a\0b")

    play(address, scene)
    assert kept(address) == []


def test_many_rows_keep_their_nothings(address: str) -> None:
    rows = [(b"a", 1, "x"), (None, None, None), (b"b", -(2**63), "가")]

    def look(tx: Tx) -> list[tuple[Any, ...]]:
        return tx.rows_each("select v.* from (values {rows}) as v", rows)

    async def scene(store: PostgresStore) -> None:
        assert await store.read(look) == rows

    play(address, scene)
