"""Announcements: whoever has the result of a write finds what it has announced."""

import asyncio

import pytest

from pabal.store.engine.base import StoreUnavailable, Tx
from pabal.store.engine.group_commit import GroupCommitStore
from pabal.store.engine.postgres.postgres_store import PostgresStore
from tests.fixtures import postgres
from tests.fixtures.cutting_proxy import Cut, CuttingProxy
from tests.fixtures.postgres_store import run_scenario
from tests.fixtures.store_modes import StoreMode, add_word, list_words
from tests.store.conftest import with_words


@pytest.fixture
def address() -> str:
    """A database of the test server, reached through a socket that can be cut."""
    return with_words(postgres.empty_database())


def add_and_announce(tx: Tx, word: str, topic: int) -> None:
    add_word(tx, word)
    tx.announce(topic)


def test_announcement_is_counted_when_the_write_returns(modes: StoreMode) -> None:
    async def scenario(store: GroupCommitStore) -> None:
        assert dict(store.announced) == {}

        await store.write(add_and_announce, "a", 7)
        assert dict(store.announced) == {7: 1}
        await store.write(add_and_announce, "b", 7)
        await store.write(add_and_announce, "c", 8)
        await store.write(add_word, "d")

        assert dict(store.announced) == {7: 2, 8: 1}

    modes.run(scenario)


def test_who_sees_an_announcement_sees_the_change(modes: StoreMode) -> None:
    async def scenario(store: GroupCommitStore) -> None:
        writes = [asyncio.ensure_future(store.write(add_and_announce, f"{number}", 7)) for number in range(20)]
        while not all(each.done() for each in writes):
            before = store.announced
            words = await store.read(list_words)
            if before.get(7):
                assert words, "it was announced before it was committed"

        assert 1 <= store.announced[7] <= 20

    modes.run(scenario)


def test_mapping_that_was_read_never_changes(modes: StoreMode) -> None:
    async def scenario(store: GroupCommitStore) -> None:
        await store.write(add_and_announce, "a", 7)
        before = store.announced

        await store.write(add_and_announce, "b", 7)

        assert (dict(before), dict(store.announced)) == ({7: 1}, {7: 2})

    modes.run(scenario)


def test_announcement_of_a_read_is_not_counted(modes: StoreMode) -> None:
    async def scenario(store: GroupCommitStore) -> None:
        await store.read(lambda tx: tx.announce(7))

        assert dict(store.announced) == {}

    modes.run(scenario)


def test_write_of_unknown_result_is_counted(address: str, cutter: CuttingProxy) -> None:
    async def scenario(store: PostgresStore) -> None:
        cutter.cuts.append(Cut.AFTER)
        with pytest.raises(StoreUnavailable):
            await store.write(add_and_announce, "nobody knows", 7)

        assert store.announced[7] >= 1

    run_scenario(cutter.address(address), scenario)
