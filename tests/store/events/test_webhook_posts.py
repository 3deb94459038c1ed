"""Stored posts of webhooks: what they contain stays until they are delivered, and what came of each try."""

import json

import pytest

from pabal.domain.events.event import EventType, format_event_id, lowest_number
from pabal.store.accounts import accounts
from pabal.store.engine.base import Tx
from pabal.store.events import events, webhook_posts, webhooks
from pabal.store.events.events import MessageEnd
from pabal.store.events.webhook_posts import (
    MAX_DELIVERIES,
    MAX_INSTANT,
    DeliveryTry,
    WebhookPost,
    WebhookProgress,
    pack_body,
)
from pabal.store.events.webhooks import NewWebhook
from tests.fixtures.rows import ExplainingTx, present
from tests.fixtures.virtual import NOON

NEW = WebhookProgress({}, 0)
"""The progress of a webhook before the first event."""


@pytest.fixture
def webhook(tx: Tx) -> int:
    return add_webhook(tx)


def add_webhook(tx: Tx, account: str = "acme") -> int:
    owner = accounts.ensure_account(tx, account, NOON)
    return webhooks.add(tx, NewWebhook(owner, "https://a.example", [EventType.MESSAGE_RESULT], [], "", b"s"), NOON)


def event_id(number: int) -> bytes:
    return number.to_bytes(16, "big")


def make_post(webhook: int, number: int, *ids: int, due_at: int = NOON, at: int = NOON) -> WebhookPost:
    wanted = [event_id(each) for each in ids or (number,)]
    items = [{"eventId": format_event_id(each), "receiver": "010-1234-5678"} for each in wanted]
    body = json.dumps({"type": "message.result", "data": {"items": items}}).encode()
    return WebhookPost(number.to_bytes(16, "big"), webhook, wanted, pack_body(body), at, 0, due_at)


def make_delivery(post: WebhookPost, at: int, **fields: object) -> DeliveryTry:
    delivery = DeliveryTry(post.webhook_id, at, post.id, post.event_ids, 1, 200, "ok", "", 12)
    return delivery._replace(**fields)  # type: ignore[arg-type]


def test_due_posts_are_read_as_stored_in_order(tx: Tx, webhook: int) -> None:
    other = add_webhook(tx, "other")
    late, first, second = make_post(webhook, 1, due_at=NOON + 9), make_post(webhook, 3), make_post(webhook, 2)
    second = second._replace(due_at=NOON + 1)
    webhook_posts.add(tx, [late, first, second, make_post(other, 4)])

    assert webhook_posts.list_due(tx, webhook, NOON + 5, 10) == [first, second]
    assert webhook_posts.list_due(tx, webhook, NOON + 5, 1) == [first]
    assert webhook_posts.list_due(tx, webhook, NOON + 5, 1, {first.id}) == [second]
    assert webhook_posts.list_due(tx, webhook, NOON - 1, 10) == []
    assert webhook_posts.count(tx, webhook) == 3
    assert webhook_posts.next_due_at(tx, webhook, NOON + 1) == NOON + 9
    assert webhook_posts.next_due_at(tx, webhook, NOON + 9) is None


def test_a_delivered_post_is_gone_and_a_failed_one_is_due_again(tx: Tx, webhook: int) -> None:
    one, two = make_post(webhook, 1), make_post(webhook, 2)
    webhook_posts.add(tx, [one, two])

    webhook_posts.finish(tx, [one.id])
    webhook_posts.retry(tx, two.id, 1, NOON + 5)

    assert webhook_posts.list_due(tx, webhook, NOON + 4, 10) == []
    assert webhook_posts.list_due(tx, webhook, NOON + 5, 10) == [two._replace(tries=1, due_at=NOON + 5)]
    webhook_posts.retry_all(tx, webhook, NOON + 1)
    assert webhook_posts.list_due(tx, webhook, NOON + 1, 10) == [two._replace(tries=1, due_at=NOON + 1)]


def test_old_posts_are_given_up_and_their_events_counted(tx: Tx, webhook: int) -> None:
    webhook_posts.add(
        tx, [make_post(webhook, 1, 1, 2, 3, at=NOON - 5), make_post(webhook, 2), make_post(webhook, 3)]
    )

    assert webhook_posts.give_up_old(tx, webhook, NOON) == 3
    assert webhook_posts.give_up_old(tx, webhook, MAX_INSTANT) == 2
    assert webhook_posts.count(tx, webhook) == 0


def test_positions_move_only_from_where_they_are(tx: Tx, webhook: int) -> None:
    begin = webhook_posts.get_progress(tx, webhook)
    assert begin == NEW

    assert webhook_posts.move_positions(tx, webhook, NEW, {0: 5})
    assert not webhook_posts.move_positions(tx, webhook, NEW, {0: 7})

    assert webhook_posts.get_progress(tx, webhook) == WebhookProgress({0: 5}, 0)
    assert webhook_posts.get_progress(tx, webhook + 1) is None


def test_posts_are_not_stored_if_something_was_erased_meanwhile(tx: Tx, webhook: int) -> None:
    account = accounts.ensure_account(tx, "acme", NOON)

    webhook_posts.erase(tx, account, [event_id(1)])

    assert not webhook_posts.move_positions(tx, webhook, NEW, {0: 5})
    assert webhook_posts.move_positions(tx, webhook, WebhookProgress({}, 1), {0: 5})


def test_rewinding_goes_back_to_an_instant_but_never_forward(tx: Tx, webhook: int) -> None:
    before, after = lowest_number(NOON - 1000), lowest_number(NOON + 1000)
    webhook_posts.move_positions(tx, webhook, NEW, {0: before, 1: after})

    webhook_posts.rewind(tx, webhook, NOON)

    assert webhook_posts.get_progress(tx, webhook) == WebhookProgress({0: before, 1: lowest_number(NOON)}, 0)


def test_deliveries_are_listed_newest_first_and_trimmed(tx: Tx, webhook: int) -> None:
    post = make_post(webhook, 1, 7, 8)
    failed = make_delivery(post, NOON, status=None, error="timeout", answer="")
    done = make_delivery(post, NOON + 1, number=2)
    webhook_posts.add_tries(tx, [failed, done])
    assert webhook_posts.list_tries(tx, webhook) == [done, failed]
    assert webhook_posts.list_tries(tx, webhook, 1, 1) == [failed]

    many = [make_delivery(make_post(webhook, number), NOON + 10 + number) for number in range(MAX_DELIVERIES)]
    webhook_posts.add_tries(tx, many)
    webhook_posts.trim_tries(tx, webhook, 0)
    assert [each.tried_at for each in webhook_posts.list_tries(tx, webhook)] == [
        each.tried_at for each in reversed(many)
    ]
    webhooks.trim_all_deliveries(tx, NOON + 10 + MAX_DELIVERIES - 1)
    assert webhook_posts.list_tries(tx, webhook) == many[-1:]


def test_an_erased_event_leaves_posts_and_the_answers_to_them(tx: Tx, webhook: int) -> None:
    account = accounts.ensure_account(tx, "acme", NOON)
    both, alone, untouched = make_post(webhook, 1, 1, 2), make_post(webhook, 2, 1), make_post(webhook, 3, 3)
    webhook_posts.add(tx, [both, alone, untouched])
    webhook_posts.add_tries(tx, [make_delivery(both, NOON), make_delivery(untouched, NOON)])

    webhook_posts.erase(tx, account + 1, [event_id(1)])
    assert webhook_posts.count(tx, webhook) == 3
    webhook_posts.erase(tx, account, [event_id(1)])

    left = {each.id: each for each in webhook_posts.list_due(tx, webhook, NOON, 10)}
    assert left.keys() == {both.id, untouched.id}
    assert left[both.id].event_ids == [event_id(2)]
    assert [each["eventId"] for each in json.loads(left[both.id].body)["data"]["items"]] == [
        format_event_id(event_id(2))
    ]
    assert left[untouched.id] == untouched
    assert {each.post_id: each.answer for each in webhook_posts.list_tries(tx, webhook)} == {
        both.id: "",
        untouched.id: "ok",
    }


def test_a_webhook_is_deleted_with_its_posts(tx: Tx, webhook: int) -> None:
    post = make_post(webhook, 1)
    webhook_posts.add(tx, [post])
    webhook_posts.add_tries(tx, [make_delivery(post, NOON)])

    webhooks.delete(tx, accounts.ensure_account(tx, "acme", NOON), webhook)

    assert webhook_posts.count(tx, webhook) == 0
    assert webhook_posts.list_tries(tx, webhook) == []


def test_no_statement_reads_posts_of_other_webhooks(tx: Tx, webhook: int) -> None:
    others = [add_webhook(tx, f"account {number}") for number in range(20)]
    posts = [make_post(each, 1000 * each + number) for each in (webhook, *others) for number in range(15)]
    webhook_posts.add(tx, posts)
    webhook_posts.add_tries(tx, [make_delivery(each, NOON) for each in posts])
    events.record(tx, 1, EventType.LIMIT_NEAR, "a", {}, NOON)
    explaining = ExplainingTx(tx)

    webhook_posts.list_due(explaining, webhook, NOON, 5)
    webhook_posts.next_due_at(explaining, webhook, NOON)
    webhook_posts.list_tries(explaining, webhook)
    webhook_posts.trim_tries(explaining, webhook, 0)
    webhook_posts.retry(explaining, posts[0].id, 1, NOON)
    webhook_posts.retry_all(explaining, webhook, NOON)
    webhook_posts.finish(explaining, [posts[0].id])
    webhook_posts.give_up_old(explaining, webhook, NOON)

    assert explaining.scans == []


def test_backlog_is_counted_and_cut_by_age_and_number(tx: Tx, webhook: int) -> None:
    owner = accounts.ensure_account(tx, "acme", NOON)
    for number in range(1, 6):
        events.record_ends(tx, [MessageEnd(event_id(number), owner, 1)], NOON + number)
        events.number_some(tx, 0, 0, NOON + number, 10)
    (stored,) = webhooks.list_by_account(tx, owner)
    begin = {0: lowest_number(NOON)}
    webhook_posts.add(tx, [make_post(webhook, 1, 8, 9)])

    counts = [webhook_posts.count_backlog(tx, stored, limit) for limit in (100, 3)]
    by_age = present(webhook_posts.plan_cut(tx, stored, begin, NOON + 3, 100))
    by_number = present(webhook_posts.plan_cut(tx, stored, begin, NOON - 1, 2))

    assert counts == [7, 3]
    assert (by_age.dropped, by_number.dropped) == (2, 3)
    assert webhook_posts.plan_cut(tx, stored, begin, NOON - 1, 5) is None
    assert webhook_posts.plan_cut(tx, stored, begin, NOON + 3) == by_age
    assert webhook_posts.plan_cut(tx, stored, begin, MAX_INSTANT) == (events.last_positions(tx), 5)
    left = events.read_after(tx, owner, by_number.positions, 10).events
    assert [each.id for each in left] == [event_id(4), event_id(5)]
