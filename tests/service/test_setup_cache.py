"""The cache of accounts' set-up: a change here is seen at once, one elsewhere within a second."""

import asyncio
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from pabal.service.setup_cache import MAX_AGE_S, MAX_ENTRY_AGE_S, SetupCache, SetupChanges
from pabal.store.accounts import accounts, numbers
from pabal.store.engine.base import Store, StoreUnavailable, Tx
from pabal.store.engine.migrate import migrate
from tests.fixtures.counting_store import CountingStore
from tests.fixtures.virtual import NOON, VirtualWorld, open_store
from tests.fixtures.web import FailingStore

SENDER, OTHER = "0212345678", "0287654321"
Key = tuple[int, str]


def read_number(tx: Tx, key: Key) -> str | None:
    state = numbers.get_state(tx, *key)
    return state.code if state else None


class Processes:
    """Two processes on one store, the first of which has a cache of sender numbers; the second changes them."""

    def __init__(self, here: Store, elsewhere: Store, world: VirtualWorld, account_id: int) -> None:
        self.failing = FailingStore(here)
        self.here = CountingStore(self.failing)
        self.elsewhere = elsewhere
        self.account_id = account_id
        self.cache = self.make_cache(world)

    def make_cache(self, world: VirtualWorld, max_entries: int = 100) -> SetupCache[Key, str]:
        return SetupCache(SetupChanges(self.here, world), read_number, lambda key, _: key[0], max_entries)

    async def get(self, number: str = SENDER, account_id: int | None = None) -> str | None:
        return await self.cache.get((self.account_id if account_id is None else account_id, number))

    @property
    def row_reads(self) -> int:
        """How often a row was read."""
        return self.here.reads.count("read_number")


@pytest.fixture
@asynccontextmanager
async def processes(tmp_path: Path) -> AsyncIterator[Processes]:
    world = VirtualWorld()
    here, elsewhere = open_store(tmp_path, world), open_store(tmp_path, world)
    await here.write(migrate, NOON)
    account_id = await here.write(accounts.ensure_account, "acme", NOON)
    await here.write(numbers.add, account_id, SENDER, NOON)
    try:
        yield Processes(here, elsewhere, world, account_id)
    finally:
        await here.close()
        await elsewhere.close()


async def test_row_is_read_once_while_nothing_changes(processes: Processes) -> None:
    for _ in range(100):
        assert await processes.get() == "approved"
        await asyncio.sleep(0.1)

    assert processes.row_reads == 1
    assert 10 / MAX_AGE_S <= processes.here.reads.count("count_all") <= 30


async def test_idle_process_reads_nothing(processes: Processes) -> None:
    await processes.get()
    processes.here.forget()

    await asyncio.sleep(30)
    assert processes.here.reads == []
    assert await processes.get() == "approved"

    assert processes.here.reads == ["count_all"]


async def test_change_of_this_process_is_seen_at_once(processes: Processes) -> None:
    assert await processes.get() == "approved"

    await processes.here.write(numbers.remove, processes.account_id, SENDER)
    assert await processes.get() is None
    await processes.here.write(numbers.add, processes.account_id, SENDER, NOON)
    assert await processes.get() == "approved"


async def test_change_of_another_process_is_seen_within_a_second(processes: Processes) -> None:
    for _ in range(7):  # in every phase between two looks at the counts
        await processes.elsewhere.write(numbers.add, processes.account_id, SENDER, NOON)
        assert await processes.get() == "approved"
        await asyncio.sleep(0.17)
        await processes.get()
        await processes.elsewhere.write(numbers.remove, processes.account_id, SENDER)

        for _ in range(10):
            await asyncio.sleep(0.1)
            seen = await processes.get()

        assert seen is None


async def test_change_of_another_account_leaves_rows_cached(processes: Processes) -> None:
    other = await processes.here.write(accounts.ensure_account, "other", NOON)
    await processes.get()

    await processes.here.write(accounts.set_disabled, "other", NOON)
    await processes.elsewhere.write(accounts.set_disabled, "other", None)
    await asyncio.sleep(1)
    await processes.get()

    assert other != processes.account_id
    assert processes.row_reads == 1


async def test_change_during_a_read_is_not_missed(processes: Processes) -> None:
    await processes.get(OTHER)
    for changes in (processes.here, processes.elsewhere):
        await processes.here.write(numbers.add, processes.account_id, SENDER, NOON)
        processes.here.may_return.clear()
        reading = asyncio.create_task(processes.get())
        await asyncio.sleep(0.001)  # it has been read, but has not returned

        await changes.write(numbers.remove, processes.account_id, SENDER)
        processes.here.may_return.set()
        assert await reading == "approved"
        if changes is processes.elsewhere:
            await asyncio.sleep(1)

        assert await processes.get() is None


async def test_caller_after_a_change_does_not_join_a_read_before_it(processes: Processes) -> None:
    await processes.get(OTHER)
    processes.here.may_return.clear()
    before = asyncio.create_task(processes.get())
    await asyncio.sleep(0.001)

    await processes.here.write(numbers.remove, processes.account_id, SENDER)
    after = asyncio.create_task(processes.get())
    await asyncio.sleep(0.001)
    processes.here.may_return.set()

    assert [await before, await after] == ["approved", None]


async def test_concurrent_callers_share_one_read(processes: Processes) -> None:
    found = await asyncio.gather(*(processes.get() for _ in range(50)))

    assert set(found) == {"approved"}
    assert processes.here.reads == ["count_all", "read_number"]


async def test_cancelled_caller_leaves_the_read_to_others(processes: Processes) -> None:
    first, second = (asyncio.create_task(processes.get()) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()

    assert await second == "approved"


async def test_row_that_does_not_exist_is_not_cached(processes: Processes) -> None:
    for number in range(100):
        assert await processes.get(f"02{number:08}" + "0" * 1000) is None
    assert len(processes.cache) == 0

    await processes.elsewhere.write(numbers.add, processes.account_id, OTHER, NOON)
    assert await processes.get(OTHER) == "approved"


async def test_cache_has_a_maximum_of_rows(processes: Processes) -> None:
    processes.cache = processes.make_cache(VirtualWorld(), max_entries=3)
    for number in range(10):
        await processes.here.write(numbers.add, processes.account_id, f"02{number:08}", NOON)
    for number in range(10):
        await processes.get(f"02{number:08}")

    assert len(processes.cache) == 3


async def test_change_that_nobody_counted_is_seen_within_a_minute(processes: Processes) -> None:
    await processes.get()
    await processes.elsewhere.write(lambda tx: tx.execute("delete from numbers"))

    await asyncio.sleep(MAX_ENTRY_AGE_S)

    assert await processes.get() is None


async def test_nothing_older_is_used_while_the_store_is_unavailable(processes: Processes) -> None:
    await processes.get()
    processes.failing.error = StoreUnavailable("away")
    await asyncio.sleep(MAX_AGE_S / 2)
    assert await processes.get() == "approved"

    await asyncio.sleep(MAX_AGE_S)
    with pytest.raises(StoreUnavailable):
        await processes.get()
    processes.failing.error = None

    assert await processes.get() == "approved"


@pytest.fixture
def alarm() -> Iterator[None]:
    """Ends a test that does not let the event loop go on: no timeout of the loop would."""

    def fail(number: int, frame: object) -> None:
        raise AssertionError("the event loop does not go on")

    before = signal.signal(signal.SIGALRM, fail)
    signal.setitimer(signal.ITIMER_REAL, 20)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("alarm")
async def test_caller_at_the_end_of_a_read_that_took_long_waits_for_the_next(processes: Processes) -> None:
    may_return = processes.here.may_return
    may_return.clear()
    first = asyncio.create_task(processes.get())
    await asyncio.sleep(2 * MAX_AGE_S)

    async def call_in_the_same_turn() -> str | None:
        await may_return.wait()
        return await processes.get()

    second = asyncio.create_task(call_in_the_same_turn())
    await asyncio.sleep(0)
    may_return.set()

    assert [await first, await second] == ["approved", "approved"]
