"""The embedded store: failures of disks and files."""

import asyncio
import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from pabal.store.engine.base import StoreUnavailable, Tx
from pabal.store.engine.group_commit import CommitStats, GroupCommitStore
from pabal.store.engine.sqlite.sqlite_store import SqliteStore
from tests.fixtures.rows import present
from tests.fixtures.store_modes import MODES, StoreMode, add_word, add_word_then_fail
from tests.fixtures.virtual import VirtualWorld, run_in_virtual_time


@pytest.fixture(params=MODES)
def modes(request: pytest.FixtureRequest, tmp_path: Path) -> StoreMode:
    return StoreMode(tmp_path / "kept.db", request.param)


class FailingCommits:
    """Makes every commit fail while it is on, like a broken disk."""

    are_on = False

    def attach(self, connection: apsw.Connection) -> None:
        connection.set_commit_hook(lambda: self.are_on)


@pytest.fixture
def failing_commits() -> Iterator[FailingCommits]:
    switch = FailingCommits()
    apsw.connection_hooks.append(switch.attach)
    yield switch
    apsw.connection_hooks.remove(switch.attach)


async def test_failed_commit_fails_all_its_writes_stores_nothing_and_the_next_one_works(
    modes: StoreMode, failing_commits: FailingCommits
) -> None:
    batches: list[CommitStats] = []
    async with modes.opened(on_commit=batches.append) as store:
        failing_commits.are_on = True
        answers = await asyncio.gather(
            *(store.write(add_word, f"{number}") for number in range(10)),
            store.write(add_word_then_fail, "x"),
            return_exceptions=True,
        )
        failing_commits.are_on = False

        assert [type(answer) for answer in answers] == [StoreUnavailable] * 11
        assert modes.words_on_disk() == []
        await store.write(add_word, "kept")
        assert modes.words_on_disk() == ["kept"]
    assert sum(batch.writes for batch in batches) == 13


async def test_full_disk_fails_every_write_until_there_is_space(store: GroupCommitStore, modes: StoreMode) -> None:

    def fill_disk(tx: Tx) -> None:
        row = present(tx.fetch_one("pragma page_count"))
        tx.fetch_all(f"pragma max_page_count = {row[0]}")

    def free_disk(tx: Tx) -> None:
        tx.fetch_all("pragma max_page_count = 1000000")

    await store.write(add_word, "small")
    await store.write(fill_disk)

    answers = await asyncio.gather(
        *(store.write(add_word, f"{number}" * 100_000) for number in range(3)), return_exceptions=True
    )

    assert [type(answer) for answer in answers] == [StoreUnavailable] * 3
    assert modes.words_on_disk() == ["small"]
    await store.write(free_disk)
    await store.write(add_word, "large" * 20_000)
    assert len(modes.words_on_disk()) == 2


async def test_locked_file_makes_the_store_unavailable_until_released(
    store: GroupCommitStore, modes: StoreMode
) -> None:

    def disable_busy_timeout(tx: Tx) -> None:
        tx.fetch_all("pragma busy_timeout = 1")

    await store.write(disable_busy_timeout)
    with contextlib.closing(apsw.Connection(str(modes.path))) as other:
        other.execute("begin immediate")

        with pytest.raises(StoreUnavailable):
            await store.write(add_word, "refused")

        other.execute("rollback")
    await store.write(add_word, "kept")
    assert modes.words_on_disk() == ["kept"]


def test_file_that_is_not_a_store_is_unavailable(modes: StoreMode) -> None:
    modes.path.write_bytes(b"this is not a database file" * 100)

    with pytest.raises(StoreUnavailable, match="NotADB"):
        modes.open()


def test_second_opener_of_a_new_file_waits_for_the_first(tmp_path: Path) -> None:
    path = tmp_path / "kept.db"
    first = apsw.Connection(str(path))
    first.execute("begin immediate")

    def finish_when_waited_for(cursor: Any, sql: str, bindings: Any) -> bool:
        if sql == "begin immediate":
            first.execute("rollback")
        return True

    def watch(connection: apsw.Connection) -> None:
        connection.exec_trace = finish_when_waited_for

    async def scenario() -> None:
        apsw.connection_hooks.append(watch)
        try:
            store = SqliteStore(path, VirtualWorld())
        finally:
            apsw.connection_hooks.remove(watch)
        assert await store.read(pragma, "journal_mode") == "wal"
        await store.close()

    with contextlib.closing(first):
        run_in_virtual_time(scenario())


async def test_commits_are_synced_to_disk_and_nothing_is_indexed_unasked(store: GroupCommitStore) -> None:
    assert await store.write(pragma, "journal_mode") == "wal"
    assert await store.write(pragma, "synchronous") == 2
    assert await store.read(pragma, "journal_mode") == "wal"
    assert await store.write(pragma, "automatic_index") == 0, "SQLite would index all messages at every send"


async def test_commits_are_not_synced_to_disk_only_on_request(modes: StoreMode) -> None:
    async with modes.opened(is_durable=False) as store:
        assert await store.write(pragma, "synchronous") == 0


def pragma(tx: Tx, name: str) -> Any:
    row = present(tx.fetch_one(f"pragma {name}"))
    return row[0]


async def test_store_notices_what_others_write_and_not_what_it_writes_itself(modes: StoreMode) -> None:
    commits: list[CommitStats] = []
    async with modes.opened(on_commit=commits.append) as store:
        await store.was_written_elsewhere()
        counted = len(commits)
        seen = [await store.was_written_elsewhere() for _ in range(2)]
        assert len(commits) == counted, "a look is no commit"
        await store.write(add_word, "ours")
        seen.append(await store.was_written_elsewhere())
        other = modes.open()
        await other.read(lambda tx: tx.fetch_all("select * from words"))
        seen.append(await store.was_written_elsewhere())
        await other.write(add_word, "theirs")
        await other.close()
        seen += [await store.was_written_elsewhere() for _ in range(2)]

        assert seen == [False, False, False, False, True, False]
