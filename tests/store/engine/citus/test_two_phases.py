"""Which transactions commit in two phases on Citus: those that write on the coordinator and on a worker."""

from collections.abc import Iterator

import pytest

from pabal.carriers.base import Accepted, Receipt
from pabal.domain.base.dates import MINUTE
from pabal.domain.sends.message import Attempt, Outcome, Product
from pabal.service.delivery.claiming.claim_tx import ClaimRequest, claim
from pabal.service.delivery.outcome.settle import BatchVerdicts, expect_receipts, settle
from pabal.service.delivery.receipts import receive
from pabal.service.policy import build_policy
from pabal.settings.settings import load
from pabal.store.engine.citus.distribution import DISTRIBUTED_TABLES, writes_to_nodes
from pabal.store.engine.postgres.postgres_store import connect
from pabal.store.engine.postgres.postgres_tx import PostgresTx
from tests.fixtures import postgres
from tests.fixtures.rows import CARRIER, store_request
from tests.fixtures.virtual import NOON

POLICY = build_policy(load({}))


@pytest.fixture
def distributed() -> Iterator[PostgresTx]:
    """A transaction that takes its tables for distributed, on a plain server."""
    connection = connect(postgres.empty_database())
    connection.execute(b"begin isolation level repeatable read")
    yield PostgresTx(connection, is_distributed=True)
    connection.close()


@pytest.mark.parametrize(
    ("sql", "is_on_nodes"),
    [
        ("insert into jobs (id) values (?)", True),
        ("insert {or_fail} into messages (id) select 1", True),
        ("delete from messages_default where id < ?", True),
        ("update requests_202611 set total = 1", True),
        ("update receipts set parts = parts", False),
        ("insert into receipt_turns (message_id) values (?)", False),
        ("delete from jobs_of_others", False),
        ("select id from jobs for update", None),
        ("create table words (word text)", None),
    ],
)
def test_table_that_a_statement_writes_to_is_recognized(sql: str, is_on_nodes: bool | None) -> None:
    assert writes_to_nodes(sql) is is_on_nodes


def test_every_distributed_table_is_recognized() -> None:
    assert all(writes_to_nodes(f"delete from {table} where slot = ?") for table in DISTRIBUTED_TABLES)


def test_send_and_claim_stay_on_a_worker(distributed: PostgresTx) -> None:
    store_request(distributed, 1)
    claim(distributed, ClaimRequest(0, CARRIER, 10, MINUTE), POLICY, NOON)

    assert not distributed.needs_two_phases


@pytest.mark.parametrize("is_expected", [True, False])
def test_verdict_needs_two_phases_unless_its_receipt_is_expected_before(
    distributed: PostgresTx, is_expected: bool
) -> None:
    store_request(distributed, 1)
    (leased, *_) = claim(distributed, ClaimRequest(0, CARRIER, 10, MINUTE), POLICY, NOON).leased
    attempt = Attempt(leased[0].id, leased[0].attempt, 1, Product.SMS, "", "", None, "")
    verdicts = BatchVerdicts(CARRIER, [(attempt, Accepted("r1"))])
    known = expect_receipts(distributed, verdicts) if is_expected else verdicts

    distributed.begin(is_retry=False)
    settle(distributed, known, POLICY, 0.5, NOON)
    does_verdict = distributed.needs_two_phases
    distributed.begin(is_retry=False)
    ended = receive(distributed, CARRIER, [Receipt("r1", Outcome.DELIVERED)], POLICY, NOON).finished.ended

    assert does_verdict is not is_expected
    assert not distributed.needs_two_phases
    assert len(ended) == 1


def test_receipt_that_comes_before_its_verdict_ends_the_message_once(distributed: PostgresTx) -> None:
    store_request(distributed, 1)
    (leased, *_) = claim(distributed, ClaimRequest(0, CARRIER, 10, MINUTE), POLICY, NOON).leased
    attempt = Attempt(leased[0].id, leased[0].attempt, 1, Product.SMS, "", "", None, "")
    known = expect_receipts(distributed, BatchVerdicts(CARRIER, [(attempt, Accepted("r1"))]))

    ended = receive(distributed, CARRIER, [Receipt("r1", Outcome.DELIVERED)], POLICY, NOON).finished.ended
    settled = settle(distributed, known, POLICY, 0.5, NOON).ended

    assert (len(ended), settled) == (1, [])
    assert distributed.fetch_all("select 1 from jobs union all select parts from receipts") == []


def test_transaction_begins_with_nothing_written(distributed: PostgresTx) -> None:
    store_request(distributed, 1)
    distributed.execute("update slots set worker_id = null")
    before = distributed.needs_two_phases

    distributed.begin(is_retry=True)

    assert (before, distributed.needs_two_phases, distributed.is_retry) == (True, False, True)
