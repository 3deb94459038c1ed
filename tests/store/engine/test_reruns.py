"""Retried transactions on PostgreSQL: after a conflict or a lost commit the result is the same."""

import contextlib
import os
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from pabal.carriers.base import Accepted, Receipt
from pabal.domain.base.codes import Refused
from pabal.domain.sends.message import Attempt, Outcome, Product, SimulatedMessage
from pabal.service.delivery.claiming import claim_tx
from pabal.service.delivery.outcome import settle
from pabal.service.delivery.receipts import receive
from pabal.service.policy import build_policy
from pabal.service.relay import profiles
from pabal.service.sending import accept, waiting
from pabal.service.upkeep import housekeeping
from pabal.settings.settings import load
from pabal.store.accounts import accounts
from pabal.store.engine.base import StoreUnavailable, Tx, transaction
from pabal.store.engine.migrate import migrate, pending
from pabal.store.engine.postgres.postgres_store import connect
from pabal.store.engine.postgres.postgres_tx import PostgresTx
from pabal.store.kakao import profiles as kept_profiles
from pabal.store.queue import simulator
from tests.fixtures import postgres
from tests.fixtures.cutting_proxy import Cut, CuttingProxy
from tests.fixtures.postgres_store import new_request, open_postgres, query_outside
from tests.fixtures.rows import ACCOUNT, CARRIER, PHONE, message_id, request_id
from tests.fixtures.virtual import NOON
from tests.store.conftest import with_words

POLICY = build_policy(load({}))
LEASE = 10_000
LATE = NOON + 10**9
ONE, OTHER = message_id(1, 1), message_id(1, 2)
CHANNEL = "@acme"
ARRIVAL = SimulatedMessage(
    ONE, ACCOUNT, PHONE, NOON, NOON, "sms", "02", None, "…", receipts=[(NOON, Outcome.DELIVERED)]
)


def do_nothing(tx: Tx) -> None:
    pass


def accepted(tx: Tx) -> None:
    accept.store_request(tx, new_request(1, "k1"))


def claimed(tx: Tx) -> Any:
    return claim_tx.claim(tx, claim_tx.ClaimRequest(0, CARRIER, 10, LEASE), POLICY, NOON)


def settled(tx: Tx) -> Any:
    said = [
        (Attempt(one, 1, ACCOUNT, Product.SMS, "", PHONE, None, ""), Accepted(one.hex())) for one in (ONE, OTHER)
    ]
    return settle.settle(tx, settle.BatchVerdicts(CARRIER, list(said)), POLICY, 0.5, NOON)


def received(tx: Tx) -> Any:
    found = [Receipt(one.hex(), Outcome.DELIVERED) for one in (ONE, OTHER)]
    return receive(tx, CARRIER, found, POLICY, NOON)


def expired(tx: Tx) -> Any:
    return housekeeping.expire_overdue(tx, 0, CARRIER, POLICY, LATE)


def cancelled(tx: Tx) -> Any:
    return waiting.cancel(tx, POLICY, ACCOUNT, request_id(1), None, NOON)


def registered(tx: Tx) -> None:
    kept_profiles.add(tx, accounts.ensure_account(tx, "acme", NOON), CHANNEL, "00100010001", PHONE, NOON)


def deleted(tx: Tx) -> Any:
    return profiles._delete(tx, 1, None, CHANNEL, NOON)


def arrived(tx: Tx) -> Any:
    return simulator.add_messages(tx, CARRIER, [ARRIVAL])


def in_turn(*works: Callable[[Tx], Any]) -> Callable[[Tx], None]:
    def run(tx: Tx) -> None:
        for work in works:
            work(tx)

    return run


def touch(table: str, column: str) -> Callable[[Tx], Any]:
    return lambda tx: tx.execute(f"update {table} set {column} = {column}")


class Case(NamedTuple):
    """A transaction: its preparation, a conflicting transaction, and the expected rows."""

    before: Callable[[Tx], Any]
    work: Callable[[Tx], Any]
    other: Callable[[Tx], Any]
    seen: str
    left: list[tuple[Any, ...]]


UNDER_WAY = (
    "select 1 from pg_stat_activity"
    " where application_name = 'pabal' and datname = current_database() and xact_start is not null"
)
JOBS = touch("jobs", "tries")
ENDED = "select m.status, count(*), (select count(*) from jobs) from messages m group by m.status"
CASES = {
    "accept": Case(
        accepted,
        transaction(retryable=True)(
            lambda tx: accept.store_request(tx, new_request(2, "k1")._replace(idempotency_keys_since=NOON + 1))
        ),
        touch("idempotency_keys", "created_at"),
        "select (select count(*) from requests), count(*), (select count(*) from jobs) from messages",
        [(2, 4, 4)],
    ),
    "claim": Case(
        accepted,
        claimed,
        JOBS,
        "select attempt, claimed_at, count(*), (select count(*) from messages where status = 1)"
        " from jobs group by attempt, claimed_at",
        [(1, NOON, 2, 2)],
    ),
    "settle": Case(
        in_turn(accepted, claimed),
        settled,
        JOBS,
        "select lane, claimed_at, count(*), (select count(*) from receipts) from jobs group by lane, claimed_at",
        [(2, None, 2, 2)],
    ),
    "receive": Case(in_turn(accepted, claimed, settled), received, JOBS, ENDED, [(2, 2, 0)]),
    "expire": Case(in_turn(accepted, claimed, settled), expired, JOBS, ENDED, [(3, 2, 0)]),
    "cancel": Case(accepted, cancelled, JOBS, ENDED, [(4, 2, 0)]),
    "delete": Case(
        registered,
        deleted,
        touch("profiles", "category"),
        "select count(*) from profiles where deleted_at is null",
        [(0,)],
    ),
    "take": Case(
        do_nothing,
        arrived,
        arrived,
        "select count(*), (select count(*) from simulated_receipts) from simulated_messages",
        [(1, 1)],
    ),
}


@pytest.fixture
def address(request: pytest.FixtureRequest) -> str:
    """A database of the test server, reached through a socket that can be cut."""
    request.node.add_marker("real_time")
    return with_words(postgres.empty_database())


@pytest.mark.parametrize("name", CASES)
async def test_transaction_is_repeated_after_a_serialization_failure(address: str, name: str) -> None:
    case = CASES[name]
    runs: list[None] = []

    def collide(tx: Tx) -> Any:
        runs.append(None)
        tx.fetch_all("select 1 from words")  # takes the snapshot: later commits of others are invisible
        if len(runs) == 1:
            with contextlib.closing(connect(address)) as connection:
                case.other(PostgresTx(connection))
        return case.work(tx)

    async with open_postgres(address) as store:
        await store.write(case.before)
        await store.write(collide)
    assert len(runs) == 2, "the conflict did not happen"
    assert query_outside(address, case.seen) == case.left


@pytest.mark.parametrize("cut", [Cut.BEFORE, Cut.AFTER])
@pytest.mark.parametrize("name", CASES)
async def test_transaction_retried_after_a_lost_commit_is_applied_once(
    address: str, cutter: CuttingProxy, name: str, cut: Cut
) -> None:
    case = CASES[name]
    async with open_postgres(cutter.address(address)) as store:
        await store.write(case.before)
        cutter.cuts.append(cut)
        try:
            await store.write(case.work)
        except StoreUnavailable:
            while query_outside(address, UNDER_WAY):  # the server may not have noticed the cut yet
                pass
            with contextlib.suppress(Refused):  # a deleted row is not found again
                await store.write(case.work)
    assert cutter.cuts == []
    assert query_outside(address, case.seen) == case.left


@pytest.mark.parametrize("cut", [Cut.BEFORE, Cut.AFTER])
async def test_migration_with_a_lost_commit_is_applied(cutter: CuttingProxy, cut: Cut) -> None:
    name = f"migrated_{os.getpid()}"
    address = postgres.create_database(name, "template1")
    async with open_postgres(cutter.address(address)) as store:
        cutter.cuts.append(cut)
        await store.write(migrate, NOON)
        assert await store.read(pending) == []
    postgres.drop_database(name)
    assert cutter.cuts == []
