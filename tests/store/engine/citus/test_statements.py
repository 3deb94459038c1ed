"""On a real Citus, how many statements a message costs the coordinator, and that none copies or prepares."""

import re
from collections.abc import Sequence

import pytest
from psycopg.conninfo import conninfo_to_dict

from pabal.service.sending.accept import store_request
from pabal.store.engine.citus.places import is_distributed
from pabal.store.engine.citus.values import MAX_ROWS
from pabal.store.engine.postgres.postgres_store import PostgresStore
from pabal.store.events import events
from pabal.store.queue import receipts
from tests.fixtures import citus
from tests.fixtures.postgres_store import query_outside, run_scenario
from tests.fixtures.rows import ACCOUNT, CARRIER
from tests.fixtures.virtual import NOON
from tests.store.engine.citus.test_one_phase import locate, request_in, send_and_deliver

MAX_OF_SEND = 7
"""Statements of a send: those of its transaction, two that keep its shard where it is, and an insert each into
requests, messages and jobs."""
MAX_OF_MESSAGE = 9
"""Statements of a message that shares none with others: one in a transaction each stores its reference, looks it up
for its receipt, and deletes it.

None is of its send, its claim, its verdict or its end.
"""
MAX_SHARED = 2
"""Statements a message where the messages of a second share them."""
SECOND = 25
"""Messages of that second."""
_OF_CITUS = re.compile("pg_prepared_xacts|waiting_pid")
"""What Citus asks now and then, whether there are messages or not."""
_COPIES_OR_PREPARES = re.compile(r"copy\b|.*_copy\(|prepare transaction|commit prepared", re.IGNORECASE)


def databases(address: str) -> list[str]:
    """Return the addresses of a database on all nodes, the coordinator first."""
    name = str(conninfo_to_dict(address)["dbname"])
    return [citus.address_on(host, port, name) for host, port in citus.nodes()]


def forget_statements(address: str) -> None:
    """Count from zero on every node."""
    for each in databases(address):
        query_outside(each, "select pg_stat_statements_reset()")


def executed(address: str) -> dict[str, int]:
    """Return how often a node has executed each statement for a database."""
    rows = query_outside(
        address,
        "select query, sum(calls)::int from pg_stat_statements where toplevel and query not like '%pg_stat_%'"
        " and dbid = (select oid from pg_database where datname = current_database()) group by query",
    )
    return {text: times for text, times in rows if not _OF_CITUS.search(text)}


def copied_or_prepared(address: str) -> list[str]:
    """Return what any node has executed to copy rows or to commit in two phases."""
    texts = [text for each in databases(address) for text in executed(each)]
    return [text for text in texts if _COPIES_OR_PREPARES.match(text)]


async def deliver_counted(store: PostgresStore, address: str, slots: Sequence[int], per_slot: int) -> float:
    """Send and deliver in some slots, and return how many statements of the coordinator a message takes.

    Connections are opened before: what they are set to counts for no message.
    """
    await store.write(is_distributed)
    await store.read(receipts.find_single_part, CARRIER, ["none"])
    forget_statements(address)
    ended = await send_and_deliver(store, slots, per_slot)
    assert ended == len(slots) * per_slot
    return sum(executed(address).values()) / ended


if citus.is_available():  # else the summary says that it was not run

    @pytest.mark.parametrize("receivers", [1, MAX_ROWS + 1])
    def test_send_alone_takes_one_insert_a_table_and_nothing_of_the_coordinator(receivers: int) -> None:
        address = citus.empty_database()

        async def scenario(store: PostgresStore) -> None:
            (slot, *_) = await locate(store)
            await store.write(store_request, request_in(slot, 1))  # which connects
            forget_statements(address)
            await store.write(store_request, request_in(slot, 2, receivers=receivers))

        run_scenario(address, scenario, writers=1)

        coordinator, *workers = [executed(each) for each in databases(address)]
        assert not coordinator
        assert 0 < sum(sum(each.values()) for each in workers) <= MAX_OF_SEND, workers

    def test_events_are_numbered_without_the_coordinator() -> None:
        address = citus.empty_database()
        numbered: list[events.NumberedBatch] = []

        async def scenario(store: PostgresStore) -> None:
            (slot, *_) = await locate(store)
            assert await send_and_deliver(store, [slot], 2) == 2
            forget_statements(address)
            numbered.append(await store.write(events.number_some, slot, 0, NOON, 10))

        run_scenario(address, scenario, writers=1)

        assert numbered == [events.NumberedBatch(frozenset({ACCOUNT}), False)]
        assert not executed(address)

    @pytest.mark.parametrize(
        ("slots", "per_slot", "most"),
        [(1, 1, MAX_OF_MESSAGE), (1, SECOND, MAX_SHARED), (5, SECOND // 5, MAX_SHARED)],
    )
    def test_message_takes_few_statements_and_copies_nothing(slots: int, per_slot: int, most: int) -> None:
        address = citus.empty_database()
        counts: list[float] = []

        async def scenario(store: PostgresStore) -> None:
            known = await locate(store)
            counts.append(await deliver_counted(store, address, known[:slots], per_slot))

        run_scenario(address, scenario, writers=1)

        assert 0 < counts[0] <= most, "\n".join(f"{n} {t[:110]}" for t, n in executed(address).items())
        assert not copied_or_prepared(address)
