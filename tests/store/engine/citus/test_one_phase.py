"""On a real Citus, what concerns one message commits in one phase, on the node of its slot, and copies nothing."""

import asyncio
from collections.abc import Sequence

import pytest

from pabal.carriers.base import Accepted
from pabal.domain.base import identifiers
from pabal.domain.base.dates import MINUTE
from pabal.domain.sends.message import Attempt, Product
from pabal.service.delivery.claiming.claim_tx import ClaimRequest, claim
from pabal.service.delivery.outcome.settle import BatchVerdicts, expect_receipts, settle
from pabal.service.delivery.receipts import end_near
from pabal.service.policy import build_policy
from pabal.service.sending.accept import IdempotencyKey, NewRequest, store_request
from pabal.settings.settings import load
from pabal.store.engine.base import Tx, transaction
from pabal.store.engine.citus.places import find_places, spread
from pabal.store.engine.citus.values import MAX_ROWS, parse, parse_join, spell
from pabal.store.engine.postgres.postgres_store import PostgresStore
from pabal.store.messages import messages, requests
from pabal.store.queue import queue, receipts
from tests.fixtures import citus
from tests.fixtures.postgres_store import new_request, query_outside, run_scenario
from tests.fixtures.rows import ACCOUNT, CARRIER, present, sms
from tests.fixtures.virtual import NOON

POLICY = build_policy(load({}))
SLOTS = 8
PER_SLOT = 5


def test_insert_of_rows_is_spelled_out() -> None:
    sql = (
        "insert {or_fail} into jobs (lane, id, slot, ready_at, tries) select ?, v.id, v.slot, v.at{as_big}, 0"
        " from (values {rows}) as v(id, slot, at) where true on conflict do nothing returning id"
    )

    insert = present(parse(sql, 3))

    assert insert.slot == 1
    assert spell(insert, 2, 3) == (
        "insert {or_fail} into jobs (lane, id, slot, ready_at, tries) values ($1, $2, $3, $4, 0),"
        " ($1, $5, $6, $7, 0) on conflict do nothing returning id"
    )


@pytest.mark.parametrize(
    "sql",
    [
        "insert into accounts (id, slot) select v.* from (values {rows}) as v",
        "insert into jobs (id) select m.id from (values {rows}) as v(id, a) cross join messages m",
        "update jobs set lane = v.a from (values {rows}) as v(id, a) where jobs.id = v.id",
    ],
)
def test_other_statements_are_not_spelled_out(sql: str) -> None:
    assert parse(sql, 2) is None


@pytest.mark.parametrize(
    ("sql", "single"),
    [
        (
            "update jobs set claimed_at = ?, reference = coalesce(jobs.reference || ?, '') || v.reference{as_bytes}"
            " from (values {rows}) as v(id, reference) where jobs.id {same} and jobs.slot {same_slot} returning id",
            "update jobs set claimed_at = $1, reference = coalesce(jobs.reference || $2, '') || $4"
            " where jobs.id = $3 and jobs.slot = $5 returning id",
        ),
        (
            "select k.slot from (values {rows}) as v(slot, key) join idempotency_keys k on k.slot {same}"
            " and k.key = v.key where k.slot {same_slot}",
            "select k.slot from idempotency_keys k where k.slot = $1 and k.key = $2 and true",
        ),
        ("update receipts set parts = v.parts from (values {rows}) as v(id, parts) where id {same}", None),
        ("select id from jobs where id in ({list}) and slot {same_slot}", None),
        ("insert into jobs (id) select v.id from (values {rows}) as v(id) where true", None),
    ],
)
def test_join_of_rows_is_spelled_for_one_row(sql: str, single: str | None) -> None:
    assert parse_join(sql) == single


def request_in(slot: int, number: int, key: str | None = None, receivers: int = 1) -> NewRequest:
    """Return a new request of a slot."""
    one = identifiers.make_request_id(NOON, slot, number)
    sending = sms([f"010{receiver:08}" for receiver in range(receivers)])
    rows = messages.build_rows(one, ACCOUNT, sending.product, sending.receivers)
    return new_request(number)._replace(
        request_id=one,
        request=requests.build_row(one, ACCOUNT, sending, NOON),
        messages=rows,
        idempotency_key=IdempotencyKey(key, b"digest") if key else None,
        jobs=[queue.NewJob(row[0], slot, CARRIER, 0, NOON) for row in rows],
    )


@transaction(slot_of=lambda slot: slot, stays_in_slot=lambda _: True)
def claim_all(tx: Tx, slot: int) -> Sequence[queue.Lease]:
    claimed = claim(tx, ClaimRequest(slot, CARRIER, 100, MINUTE), POLICY, NOON)
    return [lease for lease, _, _ in claimed.leased]


def prepared(address: str) -> set[str]:
    """Return the transactions that were prepared on nodes and are not forgotten yet."""
    return {row[0] for row in query_outside(address, "select gid from pg_dist_transaction")}


async def locate(store: PostgresStore) -> list[int]:
    """Tell the store where slots are, as the service does; return some, evenly over the nodes."""
    places = await store.read(find_places)
    store.slot_nodes.update({slot: place.node for slot, place in places.items()})
    return spread(SLOTS, places)


async def send_and_deliver(store: PostgresStore, slots: Sequence[int], per_slot: int = PER_SLOT) -> int:
    """Send some messages in each slot, all at once, and deliver them; return how many have ended."""
    new = [
        request_in(slot, number, f"key-{slot}-{number}" if number % 2 else None)
        for slot in slots
        for number in range(per_slot)
    ]
    await asyncio.gather(*(store.write(store_request, each) for each in new))
    leased = await asyncio.gather(*(store.write(claim_all, slot) for slot in slots))
    verdicts = [
        BatchVerdicts(
            CARRIER,
            [
                (Attempt(one.id, one.attempt, ACCOUNT, Product.SMS, "", "", None, ""), Accepted(one.id.hex()))
                for one in some
            ],
        )
        for some in leased
    ]
    known = await asyncio.gather(*(store.write(expect_receipts, each) for each in verdicts))
    await asyncio.gather(*(store.write(settle, each, POLICY, 0.5, NOON) for each in known))
    names = [one.id.hex() for some in leased for one in some]
    assert len(await store.read(receipts.find_single_part, CARRIER, names)) == len(names)
    ended = await asyncio.gather(
        *(
            store.write(end_near, slot, {one.id: None for one in some}, POLICY, NOON)
            for slot, some in zip(slots, leased, strict=True)
        )
    )
    references = [one for _, some in ended for one in some]
    await store.write(receipts.delete, references)
    return sum(len(finished.ended) for finished, _ in ended)


if citus.is_available():  # else the summary says that it was not run

    def test_send_claim_verdict_and_receipt_prepare_nothing_however_many_share_a_commit() -> None:
        address = citus.empty_database()
        counts: list[int] = []
        before = prepared(address)

        async def scenario(store: PostgresStore) -> None:
            counts.append(await send_and_deliver(store, await locate(store)))

        run_scenario(address, scenario, writers=2)

        assert counts == [SLOTS * PER_SLOT]
        assert prepared(address) <= before
        assert query_outside(address, "select count(*) from receipts") == [(0,)]
        assert query_outside(address, "select count(*) from messages where outcome = 1000") == [(counts[0],)]

    def test_many_receivers_of_a_request_are_copied() -> None:
        address = citus.empty_database()

        async def scenario(store: PostgresStore) -> None:
            (slot, *_) = await locate(store)
            await store.write(store_request, request_in(slot, 1, receivers=MAX_ROWS + 1))

        run_scenario(address, scenario)

        assert query_outside(address, "select count(*) from jobs") == [(MAX_ROWS + 1,)]
