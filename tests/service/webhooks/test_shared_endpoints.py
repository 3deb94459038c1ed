"""Several processes share the endpoints of webhooks by their slots."""

from collections import Counter

from tests.fixtures.cluster import Cluster
from tests.fixtures.endpoints import FakeEndpoints, add_webhook
from tests.fixtures.slot_sharing import EVICTION_S, REBALANCE_S, send_many

SOON_S = 10.0
"""Much sooner than an idle endpoint looks for events by itself."""


async def test_processes_share_the_endpoints_and_take_over_those_of_dead_ones(cluster: Cluster) -> None:
    endpoints = FakeEndpoints(delay_s=0.05)
    one, two, three = [await cluster.start_process(name, poster=endpoints) for name in ("one", "two", "three")]
    await cluster.wait(REBALANCE_S)
    urls = [f"https://hook{number}.example" for number in range(6)]
    for url in urls:
        await add_webhook(one.env, url=url)
    await cluster.wait(6)
    sent = [message_id for each in (one, two, three) for message_id in await send_many(each, 30)]
    await cluster.wait(1.2)
    await two.die()
    sent += await send_many(one, 30)
    await three.leave()
    sent += await send_many(one, 30)
    await cluster.wait(EVICTION_S + 90)

    for url in urls:
        assert set(endpoints.event_ids(url)) == {f"evt_{each.hex()}" for each in sent}
        by_id = {post.id: post.body for post in endpoints.posts if post.url == url}
        in_posts = Counter(item["eventId"] for post_id in by_id for item in _items(endpoints, post_id))
        assert set(in_posts.values()) == {1}  # a repeated post is the same post


async def test_events_that_another_process_has_numbered_are_posted_soon(cluster: Cluster) -> None:
    endpoints = FakeEndpoints()
    one, two = [await cluster.start_process(name, poster=endpoints) for name in ("one", "two")]
    await cluster.wait(REBALANCE_S)
    await add_webhook(one.env)
    await cluster.wait(6)
    sent = [message_id for each in (one, two) for message_id in await send_many(each, 30)]
    await cluster.wait(SOON_S)

    assert endpoints.event_ids() == Counter(f"evt_{each.hex()}" for each in sent)


def _items(endpoints: FakeEndpoints, post_id: str) -> list[dict[str, str]]:
    return next(post.items for post in endpoints.posts if post.id == post_id)
