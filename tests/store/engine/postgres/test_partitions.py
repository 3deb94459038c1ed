"""Monthly partitions on PostgreSQL: created ahead, found by id, dropped as a whole."""

import pytest

from pabal.domain.base import identifiers
from pabal.domain.base.dates import DAY, HOUR, Instant, Period
from pabal.domain.content.image import Image
from pabal.domain.sends.message import Outcome
from pabal.store.engine.base import Tx
from pabal.store.engine.postgres import partitions
from pabal.store.engine.postgres.partitions import Partition
from pabal.store.messages import history, images, messages, requests, statistics
from pabal.store.messages.history import MessageFilter
from pabal.store.messages.statistics import CountedQuarter
from pabal.store.people import personal_data
from pabal.store.queue import attempts, queue
from tests.fixtures.engines import partitioned_only
from tests.fixtures.rows import (
    ACCOUNT,
    CARRIER,
    PHONE,
    ExplainingTx,
    message_id,
    present,
    request_id,
    sms,
    store_request,
)
from tests.fixtures.virtual import NOON

NOVEMBER, DECEMBER, JANUARY = 202611, 202612, 202701
EARLIER = partitions.month_start(202605)
"""In a month for which test stores have no partition."""
MANY = 9_000
"""Receivers of a request; three of them are more than move at once."""
PICTURE = Image("image/jpeg", "a.jpg", b"\xff\xd8\xff")


def rows_in(tx: Tx, table: str) -> int:
    return int(tx.fetch_all(f"select count(*) from {table}")[0][0])


def end(tx: Tx, *ids: bytes) -> None:
    """End messages as the service does."""
    queue.remove(tx, ids)
    messages.finish(tx, [(one, Outcome.DELIVERED) for one in ids], NOON)


def drop_month(tx: Tx, month: int) -> bool:
    """Drop a month as housekeeping does; return whether all of it was dropped."""
    parts = partitions.pending_tasks(tx, NOON, partitions.month_start(partitions.next_month(month))).expired
    dropped = [partitions.drop_part(tx, part) for part in parts]
    return bool(parts) and all(dropped)


def read_one_node_after_the_other(tx: Tx) -> None:
    """Let a transaction on Citus read all nodes and change tables afterwards: the service has one for each."""
    tx.execute("set local citus.multi_shard_modify_mode = 'sequential'")


def test_partition_months_begin_and_end_in_utc() -> None:
    assert partitions.month_start(NOVEMBER) == 1_793_491_200_000
    assert partitions.month_at(partitions.month_start(NOVEMBER)) == NOVEMBER
    assert partitions.month_at(partitions.month_start(NOVEMBER) - 1) == 202610
    assert partitions.next_month(NOVEMBER) == DECEMBER
    assert partitions.next_month(DECEMBER) == JANUARY


@pytest.mark.parametrize("chance", [0, 2**44 - 1])
def test_month_bounds_contain_exactly_its_request_and_message_ids(chance: int) -> None:
    begin, next_begin = partitions.month_start(NOVEMBER), partitions.month_start(DECEMBER)

    def is_within(at: Instant) -> set[bool]:
        request = identifiers.make_request_id(at, 4095 if chance else 0, chance)
        ids = [("requests", request), *(("messages", one) for one in identifiers.message_id_range(request))]
        return {low <= one < high for table, one in ids for low, high in [partitions.month_bounds(NOVEMBER, table)]}

    assert is_within(begin) == is_within(next_begin - 1) == {True}
    assert is_within(begin - 1) == is_within(next_begin) == {False}


@partitioned_only
def test_new_store_has_partitions_for_this_month_and_two_ahead(tx: Tx) -> None:
    assert partitions.expired_months(tx, partitions.month_start(209912)) == [NOVEMBER, DECEMBER, JANUARY]
    assert partitions.missing_months(tx, NOON) == []


@partitioned_only
def test_rows_of_a_request_are_in_the_partitions_of_its_month(tx: Tx) -> None:
    store_request(tx, 1, sms(images=(PICTURE,)))
    attempts.record(tx, CARRIER, [attempts.EndedAttempt(message_id(1), 1, "busy")], NOON)
    store_request(tx, 2, at=partitions.month_start(DECEMBER))

    assert [rows_in(tx, f"{table}_{NOVEMBER}") for table in partitions.PARTITION_KEYS] == [1, 2, 1, 1]
    assert [rows_in(tx, f"{table}_{DECEMBER}") for table in partitions.PARTITION_KEYS] == [1, 0, 1, 0]


@partitioned_only
def test_partitions_ahead_are_created_once_as_time_passes(tx: Tx) -> None:
    assert partitions.create_ahead(tx, NOON) == []
    assert partitions.create_ahead(tx, NOON + 40 * DAY) == [202702]
    assert partitions.create_ahead(tx, NOON + 40 * DAY) == []


@partitioned_only
def test_rows_without_a_partition_move_when_it_is_created(tx: Tx) -> None:
    store_request(tx, 1, sms(images=(PICTURE,)), at=EARLIER)
    one = message_id(1, at=EARLIER)
    assert rows_in(tx, "messages_default") == 1
    assert set(messages.get(tx, [one])) == {one}

    partitions.create_month(tx, partitions.month_at(EARLIER))

    assert [rows_in(tx, f"{table}_default") for table in partitions.PARTITION_KEYS] == [0, 0, 0, 0]
    assert (rows_in(tx, "messages_202605"), rows_in(tx, "images_202605")) == (1, 2)  # an image and its bytes
    assert set(messages.get(tx, [one])) == {one}
    assert images.get(tx, request_id(1, EARLIER)) == (PICTURE,)


@partitioned_only
def test_many_rows_without_a_partition_move_in_steps(tx: Tx) -> None:
    for number in range(3):
        store_request(tx, number, sms([PHONE] * MANY, images=(PICTURE,)), at=EARLIER + number * HOUR)
    whole = Partition("messages", partitions.month_at(EARLIER))
    read_one_node_after_the_other(tx)
    found = []

    while (step := partitions.next_step(tx, whole)) is not None:
        assert partitions.take_step(tx, step)
        found.append((rows_in(tx, "messages_202605"), rows_in(tx, "messages_default")))
        assert rows_in(tx, "messages") == 3 * MANY  # none is missed meanwhile

    some = partitions.MAX_MOVED_ROWS
    assert found == [(some, 3 * MANY - some), (2 * some, 3 * MANY - 2 * some), (3 * MANY, 0)]
    assert whole not in partitions.pending_tasks(tx, EARLIER + HOUR, EARLIER).missing


@partitioned_only
def test_step_that_another_process_took_changes_nothing(tx: Tx) -> None:
    store_request(tx, 1, at=EARLIER)
    read_one_node_after_the_other(tx)
    step = present(partitions.next_step(tx, Partition("messages", partitions.month_at(EARLIER))))
    partitions.take_step(tx, step)

    assert not partitions.take_step(tx, step)

    assert rows_in(tx, "messages_202605") == 1


@partitioned_only
def test_past_month_with_many_rows_gets_a_partition_and_one_with_few_none(tx: Tx) -> None:
    store_request(tx, 1, at=EARLIER)
    store_request(tx, 2, sms([PHONE] * (partitions.MAX_MOVED_ROWS + 1)), at=partitions.month_start(202609))

    missing = partitions.pending_tasks(tx, NOON, EARLIER - DAY).missing

    assert {part.month for part in missing} == {202609}
    assert {part.table for part in missing} == set(partitions.PARTITION_KEYS)


@partitioned_only
def test_month_that_is_missing_is_late_seven_days_before_it_begins(tx: Tx) -> None:
    for table in partitions.PARTITION_KEYS:
        tx.execute(f"drop table {table}_{DECEMBER}")
    december = partitions.month_start(DECEMBER)

    counts = [partitions.count_late_months(tx, december - days * DAY) for days in (8, 7, -20)]
    partitions.create_month(tx, DECEMBER)

    assert counts == [0, 1, 1]
    assert partitions.count_late_months(tx, december) == 0


@partitioned_only
def test_month_is_old_only_when_all_of_it_is(tx: Tx) -> None:
    end_of_november = partitions.month_start(DECEMBER)

    assert partitions.expired_months(tx, end_of_november - 1) == []
    assert partitions.expired_months(tx, end_of_november) == [NOVEMBER]


@partitioned_only
def test_dropped_month_leaves_nothing_in_its_tables(tx: Tx) -> None:
    one = store_request(tx, 1, sms([PHONE, "01000000001", "01000000002"], images=(PICTURE,)))
    first, second, third = (identifiers.make_message_id(one, number) for number in (1, 2, 3))
    attempts.record(tx, CARRIER, [attempts.EndedAttempt(first, 1, "busy")], NOON)
    end(tx, first, second)
    queue.remove(tx, [third])
    messages.cancel(tx, [third], NOON)
    store_request(tx, 2, at=partitions.month_start(DECEMBER))

    assert drop_month(tx, NOVEMBER)

    assert [rows_in(tx, table) for table in partitions.PARTITION_KEYS] == [1, 0, 1, 0]
    assert not drop_month(tx, NOVEMBER)


@partitioned_only
def test_month_with_unfinished_messages_is_not_dropped(tx: Tx) -> None:
    store_request(tx, 1)

    assert not drop_month(tx, NOVEMBER)

    assert rows_in(tx, "messages") == 1


@partitioned_only
def test_month_whose_statistics_are_not_final_is_not_dropped(tx: Tx) -> None:
    store_request(tx, 1)
    end(tx, message_id(1))
    statistics.save(tx, CountedQuarter(NOON, "open", NOON, 1), {})

    assert not drop_month(tx, NOVEMBER)
    statistics.save(tx, CountedQuarter(NOON, "", NOON, 1), {})

    assert drop_month(tx, NOVEMBER)


@partitioned_only
def test_old_rows_in_default_partition_are_deleted_in_batches(tx: Tx) -> None:
    for number in range(5):
        store_request(tx, number, sms(images=(PICTURE,)), at=EARLIER)
    store_request(tx, 9, at=EARLIER + HOUR)
    store_request(tx, 10)
    old = [message_id(number, at=EARLIER) for number in range(5)]
    end(tx, *old)

    assert partitions.delete_expired_default_rows(tx, EARLIER, 10, images.delete) == 0
    assert partitions.delete_expired_default_rows(tx, EARLIER + DAY, 2, images.delete) == 2 + 2
    while partitions.delete_expired_default_rows(tx, EARLIER + DAY, 2, images.delete):
        pass

    assert set(messages.get(tx, [*old, message_id(10)])) == {message_id(10)}
    (shared,) = personal_data.list_pending(tx, b"", 10)
    assert [images.delete_unused(tx, shared) for _ in range(2)] == [False, True]
    assert rows_in(tx, "images") == 0
    assert rows_in(tx, "messages_default") == rows_in(tx, "requests_default") == 1  # one message has not ended


@partitioned_only
def test_queued_rows_in_default_partition_do_not_keep_later_ones(tx: Tx) -> None:
    for number in range(5):
        store_request(tx, number, at=EARLIER)
    queued, ended = [3, 2], [4]
    end(tx, *(message_id(number, at=EARLIER) for number in ended))

    assert partitions.delete_expired_default_rows(tx, EARLIER + DAY, len(queued), images.delete) == 1 + 1

    assert rows_in(tx, "messages_default") == 4


def partitions_read(explaining: ExplainingTx) -> set[str]:
    """Return the months whose partitions a plan reads, and the default partition."""
    words = {word for step, _ in explaining.plans if "on " in step for word in step.split()}
    return {part for word in words for part in ("rest", "202611", "202612", "202701") if f"s_{part}" in word}


@partitioned_only
def test_queries_by_id_read_only_the_partitions_of_the_ids(tx: Tx) -> None:
    store_request(tx, 1)
    one = message_id(1)
    explaining = ExplainingTx(tx)

    messages.get(explaining, [one])
    messages.mark_sending(explaining, [one])
    messages.finish(explaining, [(one, Outcome.DELIVERED)], NOON)
    requests.get(explaining, [request_id(1)])
    messages.count_by_status(explaining, ACCOUNT, *identifiers.message_id_range(request_id(1)))

    assert partitions_read(explaining) == {str(NOVEMBER)}


@partitioned_only
def test_search_by_period_reads_only_its_partitions(tx: Tx) -> None:
    store_request(tx, 1)
    explaining = ExplainingTx(tx)
    november = Period(partitions.month_start(NOVEMBER), partitions.month_start(DECEMBER))

    page = history.find(explaining, MessageFilter(ACCOUNT, receiver=PHONE, requested=november), 1, 10)

    assert page.total == 1
    assert partitions_read(explaining) == {str(NOVEMBER)}


@partitioned_only
def test_search_by_month_reads_no_later_partition(tx: Tx) -> None:
    store_request(tx, 1)
    explaining = ExplainingTx(tx)
    november = Period(partitions.month_start(NOVEMBER), partitions.month_start(DECEMBER))

    history.find(explaining, MessageFilter(ACCOUNT, receiver=PHONE, month=november), 1, 10)

    read = [(step, sql) for step, sql in explaining.plans if "messages_2" in step]
    assert read
    assert not [step for step, _ in read if str(DECEMBER) in step or str(JANUARY) in step]
