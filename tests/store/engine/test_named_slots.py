"""Statements on messages of several slots affect all of these messages and no others."""

import contextlib
from collections.abc import Iterator

import pytest

from pabal.domain.base import identifiers
from pabal.domain.base.dates import HOUR
from pabal.domain.sends.message import Outcome, Status
from pabal.store.engine.base import Tx
from pabal.store.engine.postgres.postgres_store import connect
from pabal.store.engine.postgres.postgres_tx import PostgresTx
from pabal.store.engine.sqlite.sqlite_store import SqliteTx
from pabal.store.messages import campaign_requests, history, idempotency_keys, message_search, messages, requests
from pabal.store.messages.history import MessageFilter
from pabal.store.messages.idempotency_keys import IdempotencyKeyId, KeyedRequest
from pabal.store.messages.message_search import NEWEST
from pabal.store.queue import queue
from tests.fixtures import sqlite_template
from tests.fixtures.engines import AVAILABLE_ENGINES, ENGINES, empty_database
from tests.fixtures.rows import ACCOUNT, CARRIER, PHONE, add_request, sms
from tests.fixtures.virtual import NOON

SLOTS = (3, 4, 4095)
AS_DISTRIBUTED = "taken for distributed"


@pytest.fixture(params=[*AVAILABLE_ENGINES, AS_DISTRIBUTED])
def tx(request: pytest.FixtureRequest) -> Iterator[Tx]:
    """A transaction on each engine; on PostgreSQL also one with a statement for each slot, as on Citus."""
    if request.param == "sqlite":
        with contextlib.closing(sqlite_template.open_copy()) as connection:
            connection.execute("begin")
            yield SqliteTx(connection)
        return
    engine = "postgresql" if request.param == AS_DISTRIBUTED else request.param
    with contextlib.closing(connect(empty_database(engine))) as reached:
        reached.execute(b"begin isolation level repeatable read")
        yield PostgresTx(reached, is_distributed=request.param not in ENGINES)


def keep(tx: Tx) -> list[bytes]:
    """Store a message in each slot; return their ids."""
    ids = [identifiers.make_request_id(NOON, slot, slot) for slot in SLOTS]
    for one in ids:
        add_request(tx, one, ACCOUNT, sms(), NOON)
        messages.add_all(tx, messages.build_rows(one, ACCOUNT, sms().product, sms().receivers))
    queue.add_requests(tx, [queue.NewJobs(one, CARRIER, queue.Lane.SMALL, NOON) for one in ids])
    return [identifiers.make_message_id(one, 1) for one in ids]


def test_requests_of_several_slots_are_stored_in_one_transaction(tx: Tx) -> None:
    ids = keep(tx)

    assert [queue.find_due(tx, slot, CARRIER, NOON, 10) for slot in SLOTS] == [[one] for one in ids]
    assert queue.find_due(tx, 0, CARRIER, NOON, 10) == []
    assert set(requests.get(tx, [identifiers.request_id_of(one) for one in ids])) == {one[:13] for one in ids}


def test_one_settle_may_span_several_slots(tx: Tx) -> None:
    ids = keep(tx)

    leases = queue.claim(tx, ids, NOON, NOON + HOUR)
    messages.mark_sending(tx, ids)
    queue.await_receipts(tx, [queue.AcceptedJob(lease.id, lease.attempt, "r", NOON + HOUR) for lease in leases])
    dropped = queue.remove(tx, ids)
    ended = messages.finish(tx, [(ids[0], Outcome.DELIVERED), (ids[1], Outcome.TIMED_OUT)], NOON)

    assert {(row.id, row.references) for row in dropped} == {(one, "r") for one in ids}
    assert sorted(one for one, _ in ended) == ids[:2]
    found = messages.get(tx, ids)
    assert [found[one].status for one in ids] == [Status.COMPLETED, Status.FAIL, Status.SENDING]
    assert [found[one].outcome for one in ids] == [Outcome.DELIVERED, Outcome.TIMED_OUT, None]


def test_idempotency_keys_of_several_slots_are_saved_and_found_together(tx: Tx) -> None:
    keyed = {
        IdempotencyKeyId(slot, ACCOUNT, f"k{slot}"): KeyedRequest(b"digest", b"%d" % slot, NOON) for slot in SLOTS
    }

    idempotency_keys.save(tx, keyed)

    assert idempotency_keys.find(tx, [*keyed, IdempotencyKeyId(SLOTS[0], ACCOUNT, "another")]) == keyed
    assert idempotency_keys.find(tx, [IdempotencyKeyId(SLOTS[1], ACCOUNT, f"k{SLOTS[0]}")]) == {}


def test_search_finds_messages_of_every_slot(tx: Tx) -> None:
    ids = keep(tx)

    page = history.find(tx, MessageFilter(ACCOUNT, receiver=PHONE), 1, 10)

    assert (page.total, [message.id for message, _ in page.found]) == (3, ids[::-1])


def test_search_leaves_out_other_slots_with_a_receiver_without_and_in_a_campaign(tx: Tx) -> None:
    ids = keep(tx)
    campaign_id = identifiers.make_request_id(NOON, 0, 7)
    for number, one in enumerate(ids, 1):
        campaign_requests.add(tx, campaign_id, number, identifiers.request_id_of(one), 1, NOON)
    every = MessageFilter(ACCOUNT, slots=SLOTS[1:])

    for wanted in (every._replace(receiver=PHONE), every, every._replace(campaign_id=campaign_id)):
        page = message_search.search(tx, wanted, NEWEST, 10)
        assert [message.id for message, _ in page.found] == ids[:0:-1], wanted
        assert message_search.count(tx, wanted, 10) == 2
