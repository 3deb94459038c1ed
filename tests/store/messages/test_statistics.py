"""Statistics are counted from a period's messages alone, and read by account and period."""

from zoneinfo import ZoneInfo

from pabal.domain.base import identifiers
from pabal.domain.base.dates import DAY, HOUR, MINUTE, Period, month_of
from pabal.domain.sends.message import Outcome, Product
from pabal.domain.sends.sending import Fallback
from pabal.store.engine.base import Tx
from pabal.store.messages import messages, statistics
from pabal.store.messages.messages import EndDetails
from pabal.store.messages.statistics import QUARTER, CountedQuarter, GroupCounts, StatisticsGroup
from pabal.store.queue import queue
from tests.fixtures.rows import ACCOUNT, ExplainingTx, sms, store_many_requests, store_request
from tests.fixtures.virtual import NOON

SEOUL = ZoneInfo("Asia/Seoul")
GROUP = StatisticsGroup(ACCOUNT, Product.SMS.number, 2, 1000, "", "0212345678", 0, "post")


def store_fallback(tx: Tx) -> None:
    """Store a friend talk that failed and its fallback, which was delivered for 9 won."""
    talk = sms(product=Product.FRIENDTALK_TEXT, fallback=Fallback("0299990000", None), template_code="T1")
    request = store_request(tx, 900, talk)
    one, other = (identifiers.make_message_id(request, number) for number in (1, 2))
    queue.remove(tx, [one])
    messages.finish(tx, [(one, Outcome.NOT_A_USER)], NOON, lambda _: EndDetails("post", "3019", ()))
    messages.add_fallback(tx, messages.get(tx, [one])[one], other, Product.SMS, "text", None, NOON)
    costs = ((Product.SMS, 900),)
    messages.finish(tx, [(other, Outcome.DELIVERED)], NOON, lambda _: EndDetails("sms", "0", costs))


def save(tx: Tx, quarter: int, counts: GroupCounts) -> None:
    statistics.save(tx, CountedQuarter(quarter, "", quarter, 1), {GROUP: counts})


def test_origin_of_a_delivered_fallback_counts_as_reached(tx: Tx) -> None:
    store_fallback(tx)

    found = statistics.count_messages(tx, NOON, NOON + MINUTE)

    talk, text = Product.FRIENDTALK_TEXT.number, Product.SMS.number
    assert found == {
        StatisticsGroup(ACCOUNT, talk, 3, 3019, "T1", "0212345678", 0, "post"): GroupCounts(1, 0, 1, None),
        StatisticsGroup(ACCOUNT, text, 2, 1000, "", "0299990000", 0, "sms"): GroupCounts(1, 1, 0, 900),
    }


def test_messages_are_counted_by_the_user_who_requested_them(tx: Tx) -> None:
    first, _ = (store_request(tx, number) for number in (1, 2))
    tx.execute("update requests set user_id = 7 where id = ?", (first,))

    found = statistics.count_messages(tx, NOON, NOON + MINUTE)

    group = StatisticsGroup(ACCOUNT, Product.SMS.number, 0, 0, "", "0212345678", 0, "")
    assert found == {group: GroupCounts(1), group._replace(user_id=7): GroupCounts(1)}


def test_messages_of_a_lost_request_are_counted_without_its_groups(tx: Tx) -> None:
    store_request(tx, 1)
    tx.execute("delete from requests")

    found = statistics.count_messages(tx, NOON, NOON + MINUTE)

    assert found == {StatisticsGroup(ACCOUNT, Product.SMS.number, 0, 0, "", "", 0, ""): GroupCounts(1)}


def test_counting_and_reading_scan_no_table(tx: Tx) -> None:
    store_many_requests(tx)
    store_fallback(tx)
    for number in range(200):
        save(tx, NOON + number * QUARTER, GroupCounts(1))
    explaining = ExplainingTx(tx)

    statistics.count_messages(explaining, NOON - MINUTE, NOON + MINUTE)
    periods = [Period(NOON + hour * HOUR, NOON + (hour + 1) * HOUR) for hour in range(48)]
    found = statistics.list_groups(explaining, ACCOUNT, periods, ["product", "carrier"], 100)

    assert [each.counts.messages for each in found] == [4] * 48
    assert explaining.scans == []


def test_each_request_is_looked_up_by_its_id_also_where_tables_seem_empty(tx: Tx) -> None:
    explaining = ExplainingTx(tx)
    store_many_requests(tx)
    store_fallback(tx)

    statistics.count_messages(explaining, NOON - HOUR, NOON + MINUTE)

    comparing = ("Join Filter", "Materialize", "SEARCH r USING PRIMARY KEY (id>")
    assert [step for step, _ in explaining.plans if any(each in step for each in comparing)] == []


def test_groups_are_limited_and_ordered(tx: Tx) -> None:
    for number in range(3):
        save(tx, NOON + number * QUARTER, GroupCounts(number + 1, 0, 1, 100))
    periods = [Period(NOON + number * QUARTER, NOON + (number + 1) * QUARTER) for number in range(3)]

    found = statistics.list_groups(tx, ACCOUNT, periods, ["sender"], 2)

    assert [(each.since, each.group, each.counts) for each in found] == [
        (NOON, ("0212345678",), GroupCounts(1, 0, 1, 100)),
        (NOON + QUARTER, ("0212345678",), GroupCounts(2, 0, 1, 100)),
    ]


def test_merged_quarters_add_up_to_their_months(tx: Tx) -> None:
    november = int(month_of(NOON, SEOUL).start or 0)
    december = int(month_of(NOON, SEOUL).end or 0)
    quarters = [november, november + QUARTER, NOON, december - QUARTER, december, december + DAY]
    for place, quarter in enumerate(quarters):
        save(tx, quarter, GroupCounts(1, 0, 1, 100 if place % 2 else None))

    merged = [statistics.merge_old(tx, december + HOUR, SEOUL, 2) for _ in range(4)]

    assert merged == [2, 2, 1, 0]
    assert tx.fetch_all("select quarter, messages, reached, cost from statistics order by quarter") == [
        (november, 4, 4, 200),
        (december, 1, 1, None),
        (december + DAY, 1, 1, 100),
    ]
    assert tx.fetch_all("select quarter from statistics_quarters") == [(december + DAY,)]
