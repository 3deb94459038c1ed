"""Announcements: whoever has the result of a write finds what it has announced."""

import asyncio

import pytest

from pabal.store.engine.base import StoreUnavailable, Tx
from pabal.store.engine.group_commit import GroupCommitStore
from tests.fixtures import postgres
from tests.fixtures.cutting_proxy import Cut, CuttingProxy
from tests.fixtures.postgres_store import open_postgres
from tests.fixtures.store_modes import add_word, list_words
from tests.store.conftest import with_words


@pytest.fixture
def address(request: pytest.FixtureRequest) -> str:
    """A database of the test server, reached through a socket that can be cut."""
    request.node.add_marker("real_time")
    return with_words(postgres.empty_database())


def add_and_announce(tx: Tx, word: str, topic: int) -> None:
    add_word(tx, word)
    tx.announce(topic)


async def test_announcement_is_counted_when_the_write_returns(store: GroupCommitStore) -> None:
    assert dict(store.announced) == {}

    await store.write(add_and_announce, "a", 7)
    assert dict(store.announced) == {7: 1}
    await store.write(add_and_announce, "b", 7)
    await store.write(add_and_announce, "c", 8)
    await store.write(add_word, "d")

    assert dict(store.announced) == {7: 2, 8: 1}


async def test_who_sees_an_announcement_sees_the_change(store: GroupCommitStore) -> None:
    writes = [asyncio.ensure_future(store.write(add_and_announce, f"{number}", 7)) for number in range(20)]
    while not all(each.done() for each in writes):
        before = store.announced
        words = await store.read(list_words)
        if before.get(7):
            assert words, "it was announced before it was committed"

    assert 1 <= store.announced[7] <= 20


async def test_mapping_that_was_read_never_changes(store: GroupCommitStore) -> None:
    await store.write(add_and_announce, "a", 7)
    before = store.announced

    await store.write(add_and_announce, "b", 7)

    assert (dict(before), dict(store.announced)) == ({7: 1}, {7: 2})


async def test_announcement_of_a_read_is_not_counted(store: GroupCommitStore) -> None:
    await store.read(lambda tx: tx.announce(7))

    assert dict(store.announced) == {}


async def test_write_of_unknown_result_is_counted(address: str, cutter: CuttingProxy) -> None:
    async with open_postgres(cutter.address(address)) as store:
        cutter.cuts.append(Cut.AFTER)
        with pytest.raises(StoreUnavailable):
            await store.write(add_and_announce, "nobody knows", 7)

        assert store.announced[7] >= 1
