"""Posts that fail are tried again; an endpoint that keeps failing is paused, and loses nothing."""

from collections import Counter
from itertools import pairwise

import pytest

from pabal.domain.base.dates import DAY, HOUR
from pabal.domain.events.webhook import WebhookState
from pabal.service.upkeep.privacy import erase
from pabal.service.webhooks.retries import MAX_IN_FLIGHT, MIN_TRIES, retry_delay_ms
from pabal.store.events import webhook_posts
from pabal.webhooks.poster import PostResult
from pabal.webhooks.secrets import AES_256_GCM
from tests.fixtures.delivery import accept_without_receipt
from tests.fixtures.endpoints import BROKEN, DEAD, OK, URL, FakeEndpoints, add_webhook, event_id_of, get_webhook
from tests.fixtures.service import PHONE, account_id_of, count_rows, message_id_of, sms
from tests.fixtures.virtual import Environment
from tests.fixtures.web import AWAY, FailingStore

pytestmark = pytest.mark.carrier(answer=accept_without_receipt)

EXPECTED_DELAYS_S = (5, 60, 300, 900, 1800, 3600, 3600)


def test_delays_grow_and_end_after_a_day() -> None:
    delays = [retry_delay_ms(tries, HOUR, 0.5) for tries in range(1, MIN_TRIES)]

    assert [each and each // 1000 for each in delays[:7]] == list(EXPECTED_DELAYS_S)
    assert 23 * HOUR < sum(each or 0 for each in delays) <= 24 * HOUR
    assert retry_delay_ms(MIN_TRIES, DAY, 0.5) is None
    assert retry_delay_ms(MIN_TRIES, DAY - 1, 0.5) == HOUR
    assert retry_delay_ms(MIN_TRIES - 1, DAY, 0.5) == HOUR
    assert (retry_delay_ms(2, 0, 0.0), retry_delay_ms(2, 0, 1.0)) == (48_000, 72_000)


@pytest.mark.parametrize("failure", [BROKEN, DEAD, PostResult(302, b"", 5)])
async def test_a_failed_post_is_tried_again_with_the_same_id_and_body(
    env: Environment, endpoints: FakeEndpoints, failure: PostResult
) -> None:
    endpoints.answer = failure
    one = await add_webhook(env)
    await env.send(sms())
    await env.wait(120)
    tries = list(endpoints.posts)
    endpoints.answer = OK
    await env.wait(400)

    assert len(tries) == 3
    assert len({(post.id, post.body) for post in endpoints.posts}) == 1
    assert len({post.headers["webhook-timestamp"] for post in tries}) == len(tries)
    for (before, after), delay_s in zip(pairwise(endpoints.posts), EXPECTED_DELAYS_S, strict=False):
        assert 0.79 * delay_s <= after.at - before.at <= 1.21 * delay_s + 1
    assert len(endpoints.delivered) == 1
    found = await env.store.read(webhook_posts.list_tries, one)
    assert [each.number for each in found] == [4, 3, 2, 1]
    assert found[-1].status == failure.status
    assert bool(found[-1].error) is (failure.error is not None)
    assert (await get_webhook(env, one)).failures == 0
    assert await count_rows(env, "webhook_posts") == 0


async def test_a_post_that_fails_at_its_last_try_is_given_up_and_counted(
    env: Environment, endpoints: FakeEndpoints
) -> None:
    endpoints.answer = BROKEN
    one = await add_webhook(env)
    await env.send(sms())
    await env.wait(3)
    sql = "update webhook_posts set tries = ?, created_at = created_at - ?"
    await env.store.write(lambda tx: tx.execute(sql, (MIN_TRIES - 1, DAY)))
    await env.wait(120)

    assert len(endpoints.posts) == 2
    assert (await get_webhook(env, one)).dropped == 1
    assert env.metric_value("pabal_webhook_events_total", result="dropped") == 1
    assert await count_rows(env, "webhook_posts") == 0


async def test_a_dead_endpoint_is_paused_tried_every_five_minutes_and_loses_nothing(
    env: Environment, endpoints: FakeEndpoints
) -> None:
    endpoints.answer = DEAD
    one = await add_webhook(env)
    sent = []
    for _ in range(24):
        sent.append(event_id_of(await env.send(sms())))
        await env.wait(15)
    paused = await get_webhook(env, one)
    assert paused.state is WebhookState.PAUSED
    assert paused.failures >= 10
    tries = len(endpoints.posts)
    await env.wait(1200)
    trials = [post.at for post in endpoints.posts[tries:]]
    assert 3 <= len(trials) <= 5
    assert min(after - before for before, after in pairwise(trials)) >= 299
    assert await env.store.read(webhook_posts.count_backlog, paused, 1000) == len(sent)

    endpoints.answer = OK
    await env.wait(310)
    assert (await get_webhook(env, one)).state is WebhookState.ACTIVE
    assert endpoints.event_ids() == Counter(sent)
    assert await env.store.read(webhook_posts.count_backlog, paused, 1000) == 0


async def test_a_paused_endpoint_keeps_a_week_of_events(env: Environment, endpoints: FakeEndpoints) -> None:
    endpoints.answer = DEAD
    one = await add_webhook(env)
    old = []
    for _ in range(12):
        old.append(await env.send(sms()))
        await env.wait(30)
    assert (await get_webhook(env, one)).state is WebhookState.PAUSED
    env.world.starts_at += 6 * DAY
    await env.wait(400)
    assert (await get_webhook(env, one)).dropped == 0
    recent = await env.send(sms())
    env.world.starts_at += 2 * DAY
    await env.wait(400)
    assert (await get_webhook(env, one)).dropped == len(old)

    endpoints.answer = OK
    await env.wait(400)
    assert endpoints.event_ids() == Counter([event_id_of(recent)])


async def test_an_endpoint_that_fails_gets_one_post_at_a_time_until_it_works_again(
    env: Environment, endpoints: FakeEndpoints
) -> None:
    endpoints.answer = DEAD
    endpoints.delay_s = 10
    await add_webhook(env)
    for _ in range(30):
        await env.send(sms(*[PHONE] * 100))
    await env.wait(8)
    assert endpoints.max_in_flight[URL] == MAX_IN_FLIGHT
    await env.wait(4)
    endpoints.max_in_flight.clear()
    await env.wait(60)
    assert endpoints.max_in_flight[URL] == 1

    endpoints.answer = OK
    await env.wait(600)
    assert endpoints.max_in_flight[URL] > 1
    assert len(endpoints.event_ids()) == 3000


async def test_a_secret_that_cannot_be_read_is_a_failure_like_others(
    env: Environment, endpoints: FakeEndpoints
) -> None:
    sealed = AES_256_GCM + b"????" + bytes(60)  # by a key that is not set
    one = await add_webhook(env, secret=sealed)
    await env.send(sms())
    await env.wait(3)

    assert endpoints.posts == []
    (found, *_) = await env.store.read(webhook_posts.list_tries, one)
    assert found.error.startswith("unreadable_secret")


async def test_nothing_is_lost_while_the_store_is_away(
    failing_store: FailingStore, env: Environment, endpoints: FakeEndpoints
) -> None:
    await add_webhook(env)
    endpoints.delay_s = 1.0
    first = await env.send(sms())
    await env.wait(1.5)
    failing_store.write_error = AWAY  # while the post is under way
    await env.wait(20)
    failing_store.write_error = None
    second = await env.send(sms())
    await env.wait(30)

    assert set(endpoints.event_ids()) == {event_id_of(first), event_id_of(second)}
    assert len({post.id for post in endpoints.posts}) == 2
    assert await count_rows(env, "webhook_posts") == 0


async def test_an_erased_number_is_in_no_post_any_more(env: Environment, endpoints: FakeEndpoints) -> None:
    endpoints.answer = BROKEN
    account_id = await account_id_of(env)
    one = await add_webhook(env)
    erased, kept = await env.send(sms("01077777777")), await env.send(sms("01088888888"))
    await env.wait(4)
    assert b"010-7777-7777" in endpoints.posts[0].body
    await erase(env.context, account_id, "01077777777")
    endpoints.answer = OK
    await env.wait(20)

    (post,) = endpoints.delivered
    assert {item["eventId"] for item in post.items} == {event_id_of(kept)}
    assert b"010-7777-7777" not in post.body
    found = await env.store.read(webhook_posts.list_tries, one)
    assert [each.answer for each in found] == ["thanks", ""]
    assert message_id_of(erased) in found[-1].event_ids
