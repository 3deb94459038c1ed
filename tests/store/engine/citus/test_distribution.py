"""Citus itself: where slots are, how transactions commit, and how many shards a hot statement touches."""

import asyncio
import contextlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from pabal.carriers.base import Accepted, Receipt
from pabal.domain.base import identifiers
from pabal.domain.base.dates import MINUTE
from pabal.domain.sends.message import Attempt, Outcome, Product
from pabal.service.delivery.claiming.claim_tx import ClaimRequest, claim
from pabal.service.delivery.outcome.settle import BatchVerdicts, settle
from pabal.service.delivery.receipts import receive
from pabal.service.policy import build_policy
from pabal.settings.settings import load
from pabal.store.engine.base import Tx
from pabal.store.engine.citus.distribution import DISTRIBUTED_TABLES, MARKER_TABLE, distribute
from pabal.store.engine.citus.places import SLOT_NUMBERS, SlotPlace, find_places, spread
from pabal.store.engine.citus.problems import find_problems
from pabal.store.engine.migrate import migrate
from pabal.store.engine.postgres.postgres_store import PostgresStore, connect
from pabal.store.engine.postgres.postgres_tx import PostgresTx, translate_for_rows
from pabal.store.messages import idempotency_keys, messages
from pabal.store.messages.idempotency_keys import IdempotencyKeyId, KeyedRequest
from pabal.store.queue import queue, queue_admin, slots
from pabal.store.users import form_idempotency
from pabal.store.users.form_idempotency import FormClaim
from tests.fixtures import citus
from tests.fixtures.postgres_store import query_outside, run_scenario
from tests.fixtures.rows import ACCOUNT, CARRIER, ExplainingTx, add_request, sms
from tests.fixtures.virtual import NOON
from tests.store.engine.test_migrate import first_steps

POLICY = build_policy(load({}))
SLOTS = (0, 1, 2, 3, 4, 5)
_TASKS = re.compile(r"Task Count: ([0-9]+)")


def keep(tx: Tx, slot: int, receivers: int = 20) -> bytes:
    """Store a request with its messages and jobs in a slot; return its id."""
    one = identifiers.make_request_id(NOON, slot, slot)
    sending = sms([f"010{number:08}" for number in range(receivers)])
    add_request(tx, one, ACCOUNT, sending, NOON)
    messages.add_all(tx, messages.build_rows(one, ACCOUNT, sending.product, sending.receivers))
    queue.add_requests(tx, [queue.NewJobs(one, CARRIER, sending.lane, NOON)])
    return one


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 31, 32, 33, 100, 256, 1024])
def test_slots_are_spread_evenly_over_shards_and_nodes(count: int) -> None:
    numbers = SLOT_NUMBERS
    shards = {number: (number * 2_654_435_761 % 2**32) * 32 // 2**32 for number in numbers}  # a hash of ours
    places = {number: SlotPlace(shard, f"node{shard % 3}:5432") for number, shard in shards.items()}

    chosen = spread(count, places)

    by_shard = Counter(shards[number] for number in chosen)
    by_node = Counter(places[number].node for number in chosen)
    assert len(set(chosen)) == count
    assert 0 in chosen
    assert len(by_shard) == min(count, 32)
    assert max(by_shard.values()) - min(by_shard.values()) <= 1
    assert max(by_node.values()) - min(by_node.values()) <= max(1, -(-count // 32))


if citus.is_available():  # else the summary says that it was not run

    @pytest.fixture
    def address() -> str:
        """The address of an empty database on a coordinator, with every table, distributed."""
        return citus.empty_database()

    @pytest.fixture
    def distributed(address: str) -> Iterator[PostgresTx]:
        """A transaction there."""
        with contextlib.closing(connect(address)) as connection:
            connection.execute(b"begin isolation level repeatable read")
            yield PostgresTx(connection, is_distributed=True)

    def test_two_processes_can_set_up_databases_at_once() -> None:
        names = [f"{citus.worker_database()}_{number}" for number in (1, 2)]
        try:
            with ThreadPoolExecutor(len(names)) as pool:
                addresses = list(pool.map(citus.create_database, names))

            for address in addresses:
                assert len(query_outside(address, "select nodeport from pg_dist_node")) == len(citus.nodes())
        finally:
            for name in names:
                citus.drop_database(name)

    @pytest.mark.parametrize("known_steps", [1, slots.HOLDERS_SINCE_MIGRATION - 1])
    def test_table_of_a_new_version_is_distributed_when_an_older_store_is_migrated(known_steps: int) -> None:
        name = f"{citus.worker_database()}_older"
        older = [table for table in DISTRIBUTED_TABLES if table != "slot_holders"]
        found = "select logicalrelid::text, colocationid from pg_dist_partition where partmethod = 'h'"
        address = citus.create_database(name)
        try:
            with contextlib.closing(connect(address)) as connection:
                tx = PostgresTx(connection)
                first_steps(tx, known_steps)
                for table in older:
                    beside = "none" if table == older[0] else older[0]
                    tx.fetch_all("select create_distributed_table(?, 'slot', colocate_with => ?)", (table, beside))
                tx.execute(f"create table {MARKER_TABLE} (id bigint primary key)")
                tx.fetch_all("select citus_add_local_table_to_metadata(?)", (MARKER_TABLE,))
                connection.execute(b"begin isolation level repeatable read")

                migrate(tx, NOON)
                again = distribute(tx)

                connection.execute(b"commit")
                groups: dict[str, int] = dict(tx.fetch_all(found))
        finally:
            citus.drop_database(name)
        assert again == []
        assert groups["slot_holders"] == groups["jobs"]

    def test_settings_reach_every_node(address: str) -> None:
        with contextlib.closing(connect(address)) as connection:
            problems = find_problems(PostgresTx(connection))

        assert [each for each in problems if each.node] == []

    @pytest.mark.parametrize("count", [2, 4, 8, 16])
    def test_new_slots_are_even_over_real_shards(distributed: PostgresTx, count: int) -> None:
        slots.ensure_slots(distributed, count)

        is_spread = slots.spread_slots(distributed)

        assert is_spread
        places = find_places(distributed, slots.list_numbers(distributed))
        by_shard = Counter(place.shard for place in places.values())
        by_node = Counter(place.node for place in places.values())
        assert sorted(by_shard.values()) == [max(1, count // citus.SHARDS)] * min(count, citus.SHARDS)
        assert len(set(by_node.values())) == 1

    def test_slots_that_were_used_keep_their_numbers(distributed: PostgresTx) -> None:
        slots.ensure_slots(distributed, 8)
        keep(distributed, 3)

        assert not slots.spread_slots(distributed)

        assert slots.list_numbers(distributed) == list(range(8))

    def test_rows_of_a_slot_are_where_its_place_says(address: str) -> None:
        async def scenario(store: PostgresStore) -> None:
            for slot in SLOTS:
                await store.write(keep, slot, 1)

        run_scenario(address, scenario)
        with contextlib.closing(connect(address)) as connection:
            places = find_places(PostgresTx(connection), SLOTS)
        for slot, place in places.items():
            host, _, port = place.node.rpartition(":")
            name = psycopg.conninfo.conninfo_to_dict(address)["dbname"]
            found = query_outside(
                citus.address_on(host, int(port), str(name)),
                f"select count(*) from jobs_{place.shard} where slot = {slot}",
            )
            assert found == [(1,)]

    def test_form_claims_are_on_the_coordinator_and_keys_are_on_the_nodes(address: str) -> None:
        distributed = {row[0] for row in query_outside(address, "select logicalrelid::text from pg_dist_partition")}
        assert "idempotency_keys" in distributed
        assert "form_claims" not in distributed

        async def scenario(store: PostgresStore) -> None:
            before = prepared(address)
            await store.write(form_idempotency.save, b"form", FormClaim(b"owner", NOON))
            assert await store.read(form_idempotency.find, b"form") == FormClaim(b"owner", NOON)
            assert prepared(address) <= before  # no node takes part; those before may be forgotten meanwhile

        run_scenario(address, scenario)

    def test_no_hot_statement_touches_more_than_one_shard(distributed: PostgresTx) -> None:
        explaining = ExplainingTx(distributed)
        for slot in SLOTS:
            keep(explaining, slot)
            idempotency_keys.save(
                explaining, {IdempotencyKeyId(slot, ACCOUNT, "k"): KeyedRequest(b"digest", b"id", NOON)}
            )
            queue.next_due_by_lane(explaining, CARRIER, [(slot, lane, 0) for lane in (0, 1)])
            claimed = claim(explaining, ClaimRequest(slot, CARRIER, 10, MINUTE), POLICY, NOON)
            settle(explaining, accept_all(claimed.leased), POLICY, 0.5, NOON)
            queue_admin.carriers_with_jobs(explaining, slot)
        idempotency_keys.find(explaining, [IdempotencyKeyId(slot, ACCOUNT, "k") for slot in SLOTS])
        everything = distributed.fetch_all("select reference from receipts")
        receive(explaining, CARRIER, [Receipt(row[0], Outcome.DELIVERED) for row in everything], POLICY, NOON)

        assert find_wide(explaining.plans) == []
        assert [sql for step, sql in explaining.plans if "pull to coordinator" in step or "Subplan" in step] == []
        assert sum("Task Count: 1" in step for step, _ in explaining.plans) > 50  # the plans do say it

    def test_accepted_messages_are_visible_at_once_in_every_slot(address: str) -> None:
        async def scenario(store: PostgresStore) -> None:
            await asyncio.gather(*(store.write(keep, slot, 3) for slot in SLOTS))

            counts = await store.read(lambda tx: tx.fetch_all("select slot, count(*) from jobs group by slot"))
            assert sorted(counts) == [(slot, 3) for slot in SLOTS]

        run_scenario(address, scenario)


def accept_all(leased: Sequence[tuple[queue.Lease, messages.Message, object]]) -> BatchVerdicts:
    """Return verdicts of a carrier that accepts everything, with the id as reference."""
    results = [
        (Attempt(lease.id, lease.attempt, ACCOUNT, Product.SMS, "", "", None, ""), Accepted(lease.id.hex()))
        for lease, _, _ in leased
    ]
    return BatchVerdicts(CARRIER, list(results))


def prepared(address: str) -> int:
    """Return how many transactions were prepared on nodes so far, by the numbers that Citus gave them."""
    rows = query_outside(address, "select gid from pg_dist_transaction")
    return max((int(row[0].split("_")[3]) for row in rows), default=0)


def find_wide(plans: Sequence[tuple[str, str]]) -> list[str]:
    """Return the statements whose plan has more than one task."""
    return [sql for step, sql in plans if (found := _TASKS.search(step)) and int(found[1]) > 1]


def test_statement_with_several_tasks_is_found() -> None:
    plans = [("  Task Count: 1", "one"), ("  Task Count: 32", "wide"), ("  Index Scan", "plain")]

    assert find_wide(plans) == ["wide"]


def test_rows_have_bounds_that_make_a_node_expect_few() -> None:
    sql = "select 1 from (values {rows}) as v(id, attempt) join jobs on jobs.id {same} where jobs.slot {same_slot}"
    kinds = ("bytea[]", "bigint[]")

    spelled = [translate_for_rows(sql, kinds, True, is_distributed)[0] for is_distributed in (True, False)]

    rows = b"select 1 from (select * from unnest($1::bytea[], $2::bigint[]) as u(column1, column2)"
    assert spelled == [
        rows
        + b" where column1 between $4 and $5) as v(id, attempt) join jobs on jobs.id = v.id where jobs.slot = $3",
        rows + b") as v(id, attempt) join jobs on jobs.id = any (array[v.id]) where jobs.slot + 0 = $3",
    ]
