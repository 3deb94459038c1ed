"""Events become posts, which arrive at least once, in batches, signed, and the same in every try."""

import json
from collections import Counter

import pytest

from pabal.domain.base.dates import SECOND
from pabal.domain.events.event import EventType
from pabal.domain.sends.message import Product
from pabal.domain.sends.sending import Receiver
from pabal.service.webhooks.retries import MAX_IN_FLIGHT, MAX_ITEMS
from pabal.store.events import events, webhook_posts, webhooks
from pabal.webhooks.poster import sign
from tests.fixtures.delivery import accept_without_receipt
from tests.fixtures.endpoints import SECRET, URL, FakeEndpoints, add_webhook, event_id_of, get_webhook
from tests.fixtures.service import PHONE, account_id_of, message_id_of, sms
from tests.fixtures.virtual import NOON, Environment

pytestmark = pytest.mark.carrier(answer=accept_without_receipt)

OTHER_URL = "https://other.example/in"


def event_ids_of(request_id: bytes, count: int = 1) -> set[str]:
    return {event_id_of(request_id, number) for number in range(1, count + 1)}


async def test_a_result_is_posted_within_two_seconds(env: Environment, endpoints: FakeEndpoints) -> None:
    await env.send(sms())
    await env.wait(2)
    await add_webhook(env)  # what ended before is not posted to it
    sent = await env.send(sms(receivers=[Receiver(PHONE, reference="mine")]))
    await env.wait(2)

    (post,) = endpoints.posts
    (item,) = post.items
    assert (post.url, post.account) == (URL, "acme")
    assert json.loads(post.body)["type"] == "message.result"
    assert json.loads(post.body)["timestamp"].startswith("2026-11-15T12:00:0")
    assert {item["eventId"]} == event_ids_of(sent)
    assert (item["reference"], item["resultCode"]["value"], item["receiver"]) == (
        "mine",
        "1000",
        "010-1234-5678",
    )
    posted_at = NOON + int(post.at * SECOND)
    assert dict(post.headers) == sign([SECRET], post.id, posted_at, post.body)


async def test_results_are_posted_in_batches_each_once(env: Environment, endpoints: FakeEndpoints) -> None:
    await add_webhook(env)
    sent = await env.send(sms(*[PHONE] * 950))
    await env.wait(5)

    assert endpoints.event_ids() == Counter(event_ids_of(sent, 950))
    assert max(len(post.items) for post in endpoints.posts) == MAX_ITEMS
    assert len(endpoints.posts) <= 20
    assert len({post.id for post in endpoints.posts}) == len(endpoints.posts)


async def test_events_wait_a_second_at_most_for_company(env: Environment, endpoints: FakeEndpoints) -> None:
    await add_webhook(env)
    for _ in range(4):
        await env.send(sms())
        await env.wait(0.2)
    await env.wait(3)

    (post,) = endpoints.posts
    assert len(post.items) == 4
    assert post.at < 1.5


async def test_each_endpoint_gets_the_events_and_products_that_it_wants(
    env: Environment, endpoints: FakeEndpoints
) -> None:
    account_id = await account_id_of(env)
    await add_webhook(env, products=[Product.LMS])
    await add_webhook(env, url=OTHER_URL, events=[EventType.MESSAGE_RESULT, EventType.LIMIT_NEAR])
    await add_webhook(env, "stranger", url="https://stranger.example")
    short, long = await env.send(sms()), await env.send(sms(product=Product.LMS))
    data = {"limit": "budget_per_month", "used": 7, "share": 70}
    await env.store.write(events.record, account_id, EventType.LIMIT_NEAR, "1", data, env.world.now())
    await env.wait(8)

    assert endpoints.event_ids(URL) == Counter(event_ids_of(long))
    others = [post for post in endpoints.posts if post.url == OTHER_URL]
    by_type = {json.loads(post.body)["type"]: post.items for post in others}
    assert {item["eventId"] for item in by_type["message.result"]} == event_ids_of(short) | event_ids_of(long)
    (near,) = by_type["limit.near"]
    assert near.pop("eventId").startswith("evt_")
    assert near == data
    assert {post.url for post in endpoints.posts} == {URL, OTHER_URL}


async def test_a_slow_endpoint_gets_16_posts_at_a_time_and_delays_no_other(
    env: Environment, endpoints: FakeEndpoints
) -> None:
    endpoints.delays[URL] = 10
    await add_webhook(env)
    await add_webhook(env, url=OTHER_URL)
    for _ in range(30):
        await env.send(sms(*[PHONE] * 100))
    await env.wait(8)
    assert len(endpoints.event_ids(OTHER_URL)) == 3000
    assert endpoints.max_in_flight[URL] == MAX_IN_FLIGHT

    await env.wait(30)
    assert endpoints.event_ids(URL) == endpoints.event_ids(OTHER_URL)
    assert endpoints.max_in_flight[URL] == MAX_IN_FLIGHT


async def test_tries_are_listed_with_their_answers(env: Environment, endpoints: FakeEndpoints) -> None:
    one = await add_webhook(env)
    sent = await env.send(sms())
    await env.wait(3)

    (found,) = await env.store.read(webhook_posts.list_tries, one)
    assert (found.status, found.answer, found.error, found.number) == (200, "thanks", "", 1)
    assert found.event_ids == [message_id_of(sent)]
    assert (await get_webhook(env, one)).last_success_at == found.tried_at


async def test_a_deleted_webhook_gets_nothing_more(env: Environment, endpoints: FakeEndpoints) -> None:
    one = await add_webhook(env)
    await env.store.write(webhooks.delete, await account_id_of(env), one)
    env.context.webhooks.announce_change()
    await env.wait(0.1)
    await env.send(sms())
    await env.wait(10)

    assert endpoints.posts == []


async def test_replayed_events_keep_their_ids_and_come_in_new_posts(
    env: Environment, endpoints: FakeEndpoints
) -> None:
    one = await add_webhook(env)
    await env.send(sms())
    await env.wait(60)
    since = env.world.now()
    sent = await env.send(sms())
    await env.wait(5)
    before = list(endpoints.posts)
    await env.store.write(webhook_posts.rewind, one, since)
    env.context.webhooks.announce_change()
    await env.wait(2)

    (replayed,) = endpoints.posts[len(before) :]
    assert {item["eventId"] for item in replayed.items} == event_ids_of(sent)
    assert replayed.items == before[-1].items
    assert replayed.id not in {post.id for post in before}
