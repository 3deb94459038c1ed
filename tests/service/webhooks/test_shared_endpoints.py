"""Several processes share the endpoints of webhooks by their slots."""

from collections import Counter

from pabal.service.webhooks import manage
from pabal.service.webhooks.manage import WebhookFields
from pabal.service.webhooks.retries import DISABLE_AFTER_MS, DISABLE_GONE
from pabal.store.accounts.audit_log import AuditEntry
from tests.fixtures.cluster import Cluster, StoreProxy
from tests.fixtures.endpoints import GONE, OK, FakeEndpoints, add_webhook, get_webhook
from tests.fixtures.service import account_id_of
from tests.fixtures.slot_sharing import EVICTION_S, REBALANCE_S, send_many

SOON_S = 10.0
"""Much sooner than an idle endpoint looks for events by itself."""


async def test_process_without_endpoints_does_not_look_for_numbered_events(cluster: Cluster) -> None:
    proxy, endpoints = StoreProxy(cluster.store), FakeEndpoints()
    process = await cluster.start_process("one", store_proxy=proxy, poster=endpoints)
    await cluster.wait(REBALANCE_S)
    proxy.call_counts.clear()
    await cluster.wait(6)
    looked_idle = proxy.call_counts["find_accounts"] + proxy.call_counts["_last_positions"]
    await add_webhook(process.env)
    await cluster.wait(6)

    assert looked_idle == 0
    assert proxy.call_counts["find_accounts"] > 0


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


async def test_any_process_enables_a_webhook_that_another_one_has_disabled(cluster: Cluster) -> None:
    endpoints = FakeEndpoints(GONE)
    processes = [await cluster.start_process(name, poster=endpoints) for name in ("one", "two")]
    await cluster.wait(REBALANCE_S)
    ids = [await add_webhook(processes[0].env, url=f"https://hook{number}.example") for number in range(4)]
    since = processes[0].env.world.now() - DISABLE_AFTER_MS
    sql = "update webhooks set gone = ?, gone_since = ?"
    await processes[0].env.store.write(lambda tx: tx.execute(sql, (DISABLE_GONE - 1, since)))
    await cluster.wait(6)
    sent = [message_id for each in processes for message_id in await send_many(each, 10)]
    await cluster.wait(SOON_S)
    disabled = [(await get_webhook(processes[0].env, each)).is_gone for each in ids]
    sent += [message_id for each in processes for message_id in await send_many(each, 10)]
    endpoints.answer = OK
    account_id = await account_id_of(processes[1].env)
    entry = AuditEntry(0, None, "test", account_id, "webhook.update")
    for each in ids:
        await manage.update(processes[1].env.context, account_id, each, WebhookFields(is_enabled=True), entry)
    await cluster.wait(2 * SOON_S)

    assert disabled == [True] * len(ids)
    assert endpoints.event_ids() == Counter([f"evt_{each.hex()}" for each in sent] * len(ids))


def _items(endpoints: FakeEndpoints, post_id: str) -> list[dict[str, str]]:
    return next(post.items for post in endpoints.posts if post.id == post_id)
