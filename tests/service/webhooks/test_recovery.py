"""What waits for a retry is posted as soon as its endpoint answers again, and not all at once."""

from collections import Counter
from itertools import pairwise

import pytest

from pabal.service.webhooks.retries import MAX_IN_FLIGHT, RETRY_SOON_TRIES
from pabal.webhooks.poster import PostResult
from tests.fixtures.delivery import accept_without_receipt
from tests.fixtures.endpoints import BROKEN, DEAD, OK, URL, EndpointPost, FakeEndpoints, add_webhook, event_id_of
from tests.fixtures.service import sms
from tests.fixtures.virtual import Environment

pytestmark = pytest.mark.carrier(answer=accept_without_receipt)

POSTS = 40


async def send_during_outage(env: Environment, endpoints: FakeEndpoints) -> Counter[str]:
    """Have as many posts fail as POSTS, for 99 s in all; return the events."""
    endpoints.answer = DEAD
    sent = []
    for _ in range(POSTS):
        sent.append(event_id_of(await env.send(sms())))
        await env.wait(1.5)
    await env.wait(99 - 1.5 * POSTS)
    return Counter(sent)


async def test_first_success_after_an_outage_makes_all_waiting_posts_due(
    env: Environment, endpoints: FakeEndpoints
) -> None:
    await add_webhook(env)
    sent = await send_during_outage(env, endpoints)
    endpoints.answer = OK
    sent[event_id_of(await env.send(sms()))] += 1
    await env.wait(5)

    assert endpoints.event_ids() == sent


async def test_recovering_endpoint_gets_more_posts_at_a_time_with_each_success(
    env: Environment, endpoints: FakeEndpoints
) -> None:
    await add_webhook(env)
    sent = await send_during_outage(env, endpoints)
    endpoints.max_in_flight.clear()
    endpoints.answer, endpoints.delay_s = OK, 1.0
    await env.send(sms())
    seen = []
    while len(endpoints.delivered) <= len(sent):
        await env.wait(1)
        seen.append(endpoints.max_in_flight[URL])

    assert seen[0] <= 2
    assert seen == sorted(seen)
    assert seen[-1] == MAX_IN_FLIGHT, RETRY_SOON_TRIES


async def test_endpoint_that_answers_sometimes_gets_no_post_later_than_after_five_minutes(
    env: Environment, endpoints: FakeEndpoints
) -> None:
    """Every second post fails, and one fails always; others come every minute, for half an hour."""
    count = 0

    def answer(post: EndpointPost) -> PostResult:
        nonlocal count
        count += 1
        return BROKEN if refused in post.body or count % 2 else OK

    await add_webhook(env)
    refused = event_id_of(await env.send(sms())).encode()
    endpoints.answer = answer
    for _ in range(30):
        await env.send(sms())
        await env.wait(60)

    tries: dict[str, list[float]] = {}
    for post in endpoints.posts:
        tries.setdefault(post.id, []).append(post.at)
    waits = [after - before for times in tries.values() for before, after in pairwise(times)]
    assert max(waits) < (5 + 3) * 60
    assert len(endpoints.event_ids()) > 25


async def test_post_that_an_endpoint_refuses_is_not_tried_after_each_of_the_others(
    env: Environment, endpoints: FakeEndpoints
) -> None:
    await add_webhook(env)
    refused = event_id_of(await env.send(sms())).encode()
    endpoints.answer = lambda post: BROKEN if refused in post.body else OK
    for _ in range(120):
        await env.send(sms())
        await env.wait(3)

    tries = [post.at for post in endpoints.posts if refused in post.body]
    assert RETRY_SOON_TRIES <= len(tries) <= RETRY_SOON_TRIES + 360 // 300 + 1
    assert min(after - before for before, after in pairwise(tries)) >= 4
