"""Stored campaigns: only one process at a time reads, creates, cancels or expedites one."""

import json

import pytest

from pabal.domain.base.dates import SECOND
from pabal.domain.sends.campaign import UNSENT_STATES, CampaignState
from pabal.domain.sends.message import Outcome, Product
from pabal.service.sending.campaigns import campaigns as service
from pabal.service.sending.waiting import expedite
from pabal.store.campaigns import campaign_list, campaigns
from pabal.store.campaigns.campaigns import CampaignDraft, FileFindings, FileSummary, InvalidRow, ReceiverBlock
from pabal.store.engine.base import Tx
from pabal.store.engine.postgres.postgres_store import PostgresStore
from pabal.store.messages import campaign_requests, messages, requests
from pabal.store.messages.campaign_requests import (
    MAX_COUNT_INTERVAL,
    MIN_COUNT_INTERVAL,
    CampaignProgress,
    CampaignRequest,
    FailureCount,
)
from pabal.store.queue import queue
from tests.fixtures.postgres_store import new_request, open_postgres, query_outside
from tests.fixtures.rows import ACCOUNT, ExplainingTx, present, request_id
from tests.fixtures.virtual import NOON

ONE = bytes(12) + b"\x01"


def add(tx: Tx, campaign_id: bytes = ONE, now: int = NOON) -> None:
    campaigns.add(tx, CampaignDraft(campaign_id, ACCOUNT, 7, "sms", "봄", "{}"), now)


BLOCK_OF_TWO = ReceiverBlock(1, 2, "[]")
"""The first block of a campaign, as far as it is taken by."""


def make_ready(tx: Tx, *blocks: int) -> None:
    """Store a campaign whose requests are being created, with blocks of these sizes."""
    add(tx)
    campaigns.begin_reading(tx, ONE, "a.csv", True, NOON, NOON)
    for number, receivers in enumerate(blocks, 1):
        block = ReceiverBlock(number, receivers, json.dumps([["01012345678", [], None]] * receivers))
        assert campaigns.add_findings(tx, ONE, FileFindings(block, (), 0), NOON, NOON)
    assert campaigns.end_reading(tx, ONE, FileSummary("{}", ("phone",), ()), NOON, NOON)
    assert campaigns.start(tx, ONE, NOON, "봄", None, NOON)


def state(tx: Tx) -> CampaignState:
    return present(campaigns.get(tx, ONE)).state


def test_findings_of_a_file_add_up_until_a_new_file_replaces_them(tx: Tx) -> None:
    add(tx)
    assert campaigns.begin_reading(tx, ONE, "a.csv", False, NOON, NOON)
    fault = InvalidRow(3, ("12", "x"), ("번호", "number"))
    assert campaigns.add_findings(tx, ONE, FileFindings(ReceiverBlock(1, 2, "[]"), [fault], 1), NOON, NOON + 1)
    assert campaigns.add_findings(tx, ONE, FileFindings(None, [fault._replace(number=9)], 0), NOON + 1, NOON + 2)

    found = present(campaigns.get(tx, ONE))
    assert (found.receivers, found.invalid_rows, found.duplicates, found.skips_duplicates) == (2, 2, 1, False)
    assert campaign_list.list_invalid_rows(tx, ONE, 3, 10) == [fault._replace(number=9)]
    assert campaigns.end_reading(tx, ONE, FileSummary("{}", ("a", "b"), ("b",)), NOON + 2, NOON + 3)
    again = present(campaigns.get(tx, ONE))
    assert (again.columns, again.unused_columns, again.state) == (("a", "b"), ("b",), CampaignState.CHECKED)
    assert campaigns.begin_reading(tx, ONE, "b.csv", True, NOON, NOON + 4)
    assert campaign_list.list_invalid_rows(tx, ONE, 0, 10) == []
    assert campaigns.next_block(tx, ONE) is None


def test_stale_file_reader_adds_no_findings(tx: Tx) -> None:
    add(tx)
    assert campaigns.begin_reading(tx, ONE, "a", True, NOON, NOON)
    assert not campaigns.begin_reading(tx, ONE, "b", True, NOON, NOON + 1), "only one file is read at a time"
    assert campaigns.begin_reading(tx, ONE, "b", True, NOON + 1, NOON + 2), "a stale reader is replaced"

    assert not campaigns.add_findings(tx, ONE, FileFindings(ReceiverBlock(1, 1, "[]"), (), 0), NOON, NOON + 3)
    assert not campaigns.end_reading(tx, ONE, FileSummary("{}", (), ()), NOON, NOON + 3)
    campaigns.refuse_file(tx, ONE, ["x", "y"], NOON, NOON + 3)
    assert state(tx) is CampaignState.READING


def test_refused_file_leaves_only_its_reason(tx: Tx) -> None:
    add(tx)
    campaigns.begin_reading(tx, ONE, "a", True, NOON, NOON)
    campaigns.add_findings(tx, ONE, FileFindings(ReceiverBlock(1, 1, "[]"), (), 0), NOON, NOON + 1)
    campaigns.refuse_file(tx, ONE, ["나쁨", "bad"], NOON + 1, NOON + 2)

    found = present(campaigns.get(tx, ONE))
    assert (found.state, found.reason, found.receivers) == (CampaignState.DRAFT, ("나쁨", "bad"), 0)
    assert campaigns.next_block(tx, ONE) is None


def test_campaign_without_receivers_or_already_sent_cannot_be_started(tx: Tx) -> None:
    add(tx)
    assert not campaigns.start(tx, ONE, NOON, "x", None, NOON)
    campaigns.begin_reading(tx, ONE, "a", True, NOON, NOON)
    campaigns.end_reading(tx, ONE, FileSummary(None, (), ()), NOON, NOON)
    assert not campaigns.start(tx, ONE, NOON, "x", None, NOON), "no row is valid"


def test_block_is_taken_once_and_only_at_the_campaign_time(tx: Tx) -> None:
    make_ready(tx, 2, 3)
    campaign = present(campaigns.get(tx, ONE))
    one = present(campaigns.next_block(tx, ONE))
    two = one._replace(number=2, receivers=3)

    assert not campaigns.take_block(tx, campaign._replace(scheduled_at=NOON), one, NOON)
    assert not campaigns.take_block(tx, campaign, one._replace(receivers=3), NOON), "it has changed"
    assert campaigns.take_block(tx, campaign, one, NOON)
    assert not campaigns.take_block(tx, campaign, one, NOON)
    assert campaigns.expedite(tx, ONE, NOON + 1)
    assert not campaigns.take_block(tx, campaign, two, NOON), "it has been rescheduled"
    assert campaigns.change_state(tx, ONE, (CampaignState.MAKING,), CampaignState.CANCELLING, NOON)
    rescheduled = campaign._replace(scheduled_at=NOON + 1)
    assert not campaigns.take_block(tx, rescheduled, two, NOON)
    kept = present(campaigns.get(tx, ONE))
    assert kept.requested == 2


def test_active_campaigns_are_found(tx: Tx) -> None:
    make_ready(tx, 1)
    assert campaigns.find_active(tx) == [ONE]
    campaigns.change_state(tx, ONE, (CampaignState.MAKING,), CampaignState.MADE, NOON)
    assert campaigns.find_active(tx) == []
    assert campaigns.expedite(tx, ONE, NOON)
    assert campaigns.find_active(tx) == [ONE]
    campaigns.end_expedite(tx, ONE)
    assert campaigns.find_active(tx) == []


def test_campaigns_of_an_account_are_listed_newest_first(tx: Tx) -> None:
    for number in (1, 2, 3):
        add(tx, bytes(12) + bytes([number]))
    campaigns.add(tx, CampaignDraft(bytes(12) + b"\x04", ACCOUNT + 1, 7, "sms", "x", "{}"), NOON)
    tx.execute("update campaigns set columns = '[' where id = ?", (bytes(12) + b"\x01",))
    ids, readable = campaign_list.list_by_account(tx, ACCOUNT, bytes(12) + b"\x03", b"", 10)
    assert [one[-1] for one in ids] == [2, 1]
    assert list(readable) == [bytes(12) + b"\x02"]
    ids, _ = campaign_list.list_by_account(tx, ACCOUNT, bytes(12) + b"\x04", bytes(12) + b"\x02", 10)
    assert [one[-1] for one in ids] == [3, 2]


def test_campaigns_that_were_not_sent_are_listed_by_an_index_of_their_own(tx: Tx) -> None:
    for number in (2, 3, 4):
        add(tx, bytes(12) + bytes([number]))
    make_ready(tx, 1)
    campaigns.change_state(tx, bytes(12) + b"\x03", UNSENT_STATES, CampaignState.DISCARDED, NOON)

    ids, readable = campaign_list.list_unsent(tx, ACCOUNT, b"\xff" * 13, 10)

    assert [one[-1] for one in ids] == [4, 2]
    assert set(readable) == set(ids)
    assert campaign_list.list_unsent(tx, ACCOUNT, b"\xff" * 13, 1)[0] == ids[:1]
    assert (campaign_list.count_unsent(tx, ACCOUNT, 10), campaign_list.count_unsent(tx, ACCOUNT, 1)) == (2, 1)
    explaining = ExplainingTx(tx)
    campaign_list.list_unsent(explaining, ACCOUNT, b"\xff" * 13, 10)
    assert explaining.uses("campaigns_unsent")
    assert explaining.scans == []


def test_requests_in_progress_are_recounted_and_ended_ones_are_not(tx: Tx) -> None:
    kept = new_request(1)
    requests.add_all(tx, [kept.request])
    messages.add_all(tx, kept.messages)
    queue.add_requests(tx, [queue.NewJobs(kept.request_id, "c", 0, NOON)])
    make_ready(tx, 2)
    campaign_requests.add(tx, ONE, 1, kept.request_id, 2, NOON + SECOND)
    assert campaign_requests.find_due(tx, None, NOON, 10) == []
    (part,) = campaign_requests.find_due(tx, ONE, NOON + SECOND, 10)
    assert campaign_requests.count_progress(tx, ACCOUNT, part.request_id, 2) == (CampaignProgress(waiting=2), False)

    ids = [row[0] for row in tx.fetch_all("select id from messages order by id")]
    messages.mark_sending(tx, ids)
    paid = messages.EndDetails("c", None, tuple((product, 950) for product in Product))
    messages.finish(tx, [(ids[0], Outcome.DELIVERED)], NOON, lambda _: paid)
    messages.finish(tx, [(ids[1], Outcome.SPAM)], NOON)
    progress, is_ended = campaign_requests.count_progress(tx, ACCOUNT, part.request_id, 2)
    campaign_requests.save_progress(tx, part, progress, is_ended, NOON + SECOND)

    spam = (FailureCount(Outcome.SPAM.number, 1),)
    assert (progress, is_ended) == (CampaignProgress(completed=1, fail=1, cost=950, failures=spam), True)
    assert campaign_requests.sum_failures(tx, ONE) == spam
    assert campaign_requests.list_requests(tx, ONE)[0].progress == progress
    assert campaign_requests.find_due(tx, None, NOON + 10**9, 10) == []
    campaign_requests.save_progress(tx, part, CampaignProgress(), False, NOON + 2 * SECOND)
    assert campaign_requests.sum_progress(tx, [ONE, bytes(13)]) == {
        ONE: (CampaignProgress(completed=1, fail=1, cost=950), True)
    }
    assert campaign_requests.campaigns_by_request(tx, [kept.request_id, bytes(13)]) == {kept.request_id: ONE}


@pytest.mark.parametrize(
    ("age", "wait"), [(0, MIN_COUNT_INTERVAL), (100 * SECOND, 10 * SECOND), (10**9, MAX_COUNT_INTERVAL)]
)
def test_slow_requests_are_counted_less_often(tx: Tx, age: int, wait: int) -> None:
    make_ready(tx, 2)
    campaign_requests.add(tx, ONE, 1, request_id(1), 2, NOON)
    part = CampaignRequest(ONE, 1, request_id(1), 2, NOON, False, CampaignProgress())
    campaign_requests.save_progress(tx, part, CampaignProgress(waiting=2), False, NOON + age)
    assert campaign_requests.find_due(tx, None, NOON + age + wait - 1, 10) == []
    assert len(campaign_requests.find_due(tx, None, NOON + age + wait, 10)) == 1
    campaign_requests.recount_soon(tx, request_id(1), NOON)
    assert len(campaign_requests.find_due(tx, None, NOON, 10)) == 1


def test_send_now_affects_only_scheduled_messages_never_in_flight(tx: Tx) -> None:
    kept = new_request(1)
    requests.add_all(tx, [kept.request])
    messages.add_all(tx, kept.messages)
    ids = [row[0] for row in tx.fetch_all("select id from messages order by id")]
    queue.add(tx, ids[0], "c", 0, NOON + 5 * SECOND)
    queue.add(tx, ids[1], "c", 0, NOON + 5 * SECOND)
    queue.claim(tx, [ids[0]], NOON, NOON + 9 * SECOND)

    assert expedite(tx, kept.request_id, NOON + SECOND).messages == 1

    ready: dict[bytes, int] = dict(tx.fetch_all("select id, ready_at from jobs"))
    assert ready == {ids[0]: NOON + 9 * SECOND, ids[1]: NOON + SECOND}
    assert requests.get(tx, [kept.request_id])[kept.request_id].scheduled_at == NOON + SECOND
    assert expedite(tx, kept.request_id, NOON + SECOND).messages == 0


async def test_no_request_is_created_after_a_concurrent_cancel(address: str) -> None:
    runs: list[None] = []

    def create_request(tx: Tx) -> bool:
        runs.append(None)
        campaign = present(campaigns.get(tx, ONE))
        if len(runs) == 1:
            query_outside(address, "update campaigns set state = 'cancelling'")
        return service._store_request(tx, campaign, BLOCK_OF_TWO, new_request(1)) is not None

    async with open_postgres(address) as store:
        await store.write(make_ready, 2)
        assert not await store.write(create_request)
    assert len(runs) == 2
    assert query_outside(address, "select count(*) from requests") == [(0,)]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param("delete from campaign_blocks; update campaigns set requested = 2", id="other worker"),
        pytest.param("update campaign_blocks set receivers = 1", id="erasure"),
    ],
)
async def test_block_that_changes_concurrently_becomes_no_request(address: str, change: str) -> None:
    async with open_postgres(address) as store:
        await store.write(make_ready, 2)
        campaign = present(await store.read(campaigns.get, ONE))
        runs: list[None] = []

        def create_request(tx: Tx) -> bool:
            runs.append(None)
            tx.fetch_all("select 1 from campaigns")  # reads the state before the other process changes it
            if len(runs) == 1:
                query_outside(address, change)
            return service._store_request(tx, campaign, BLOCK_OF_TWO, new_request(1)) is not None

        assert not await store.write(create_request)
        assert len(runs) == 2
    assert query_outside(address, "select count(*) from campaign_requests") == [(0,)]


async def test_cancelled_messages_are_not_sent_by_a_concurrent_send_now(
    postgres_store: PostgresStore, address: str
) -> None:
    kept = new_request(1)

    def store_requests(tx: Tx) -> None:
        requests.add_all(tx, [kept.request])
        messages.add_all(tx, kept.messages)
        queue.add_requests(tx, [queue.NewJobs(kept.request_id, "c", 0, NOON + 5 * SECOND)])

    await postgres_store.write(store_requests)
    runs: list[None] = []

    def expedite_after_cancel(tx: Tx) -> int:
        runs.append(None)
        tx.fetch_all("select 1 from jobs")
        if len(runs) == 1:
            query_outside(address, "delete from jobs; update messages set status = 4")
        return expedite(tx, kept.request_id, NOON).messages

    assert await postgres_store.write(expedite_after_cancel) == 0
    assert len(runs) == 2
    assert await postgres_store.read(messages.find_waiting, ACCOUNT, kept.request_id, None) == []
