"""A webhook that fails is seen at once: by metrics, and by a line in the log at its beginning and at its end."""

import logging

import pytest

from pabal.service.webhooks.dispatch import MEASURE_INTERVAL_S
from pabal.service.webhooks.retries import MAX_UNFINISHED
from pabal.store.events import webhook_posts
from tests.fixtures.delivery import accept_without_receipt
from tests.fixtures.endpoints import BROKEN, DEAD, OK, URL, FakeEndpoints, add_webhook, get_webhook
from tests.fixtures.service import PHONE, sms
from tests.fixtures.virtual import Environment

pytestmark = pytest.mark.carrier(answer=accept_without_receipt)

FAILS = "webhook fails; what it was not told is tried again"
WORKS = "webhook works again; nothing waits for a retry"


def metrics(env: Environment, state: str) -> tuple[float, float]:
    """Return how many events wait for webhooks in a state, and for how long."""
    found = {
        sample.name: sample.value
        for family in env.context.metrics.collect()
        for sample in family.samples
        if sample.labels == {"state": state}
    }
    return found["pabal_webhook_backlog_events"], found["pabal_webhook_oldest_event_seconds"]


def lines(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.message for each in caplog.records if each.name == "pabal.webhooks"]


async def test_metrics_tell_how_much_waits_for_failing_webhooks_and_for_how_long(
    env: Environment, endpoints: FakeEndpoints
) -> None:
    endpoints.answer = lambda post: DEAD if post.url == URL else OK
    await add_webhook(env)
    await add_webhook(env, url="https://works.example")
    for _ in range(3):
        await env.send(sms(*[PHONE] * 100))
        await env.wait(MEASURE_INTERVAL_S)
    failing, seen = env.metric_value("pabal_webhook_endpoints_failing"), metrics(env, "active")
    await env.wait(600)
    paused = metrics(env, "active"), metrics(env, "paused")
    endpoints.answer = OK
    await env.wait(320)

    assert failing == 1
    assert seen[0] == 300
    assert 2 * MEASURE_INTERVAL_S - 2 <= seen[1] <= 3 * MEASURE_INTERVAL_S
    assert [*paused[0], paused[1][0]] == [0, 0, 300]
    assert 600 <= paused[1][1] <= 600 + 3 * MEASURE_INTERVAL_S
    assert [*metrics(env, "active"), *metrics(env, "paused")] == [0, 0, 0, 0]
    assert env.metric_value("pabal_webhook_endpoints_failing") == 0


async def test_events_that_are_no_posts_yet_are_counted_up_to_a_limit(
    env: Environment, endpoints: FakeEndpoints
) -> None:
    webhook = await get_webhook(env, await add_webhook(env, url="https://other.example"))
    await env.store.write(lambda tx: tx.execute("update webhooks set state = 'disabled'"))
    env.context.webhooks.announce_change()
    await env.wait(1)
    began = env.world.now()
    await env.send(sms(*[PHONE] * 30))
    await env.wait(20)

    counts = [await env.store.read(webhook_posts.read_waiting, webhook, limit) for limit in (MAX_UNFINISHED, 10)]

    assert [each.number for each in counts] == [30, 10]
    assert all(each.since is not None and began <= each.since <= began + 10_000 for each in counts)


async def test_log_has_one_line_at_the_first_failure_and_one_at_recovery(
    env: Environment, endpoints: FakeEndpoints, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    await add_webhook(env)
    endpoints.answer = DEAD
    for _ in range(5):
        await env.send(sms())
        await env.wait(10)
    begun = lines(caplog)
    endpoints.answer = OK
    await env.wait(60)

    assert begun == [FAILS]
    assert lines(caplog) == [FAILS, WORKS]
    (first, _) = [each for each in caplog.records if each.name == "pabal.webhooks"]
    assert (first.__dict__["account"], first.__dict__["error_detail"]) == ("acme", "connection: refused")
    assert URL not in caplog.text


async def test_post_that_is_refused_between_others_is_one_failure_in_the_log(
    env: Environment, endpoints: FakeEndpoints, caplog: pytest.LogCaptureFixture
) -> None:
    await add_webhook(env)
    await env.send(sms("01077777777"))
    endpoints.answer = lambda post: BROKEN if b"010-7777-7777" in post.body else OK
    for _ in range(20):
        await env.send(sms())
        await env.wait(3)
    refused = lines(caplog)
    endpoints.answer = OK
    await env.wait(310)

    assert refused == [FAILS]
    assert lines(caplog) == [FAILS, WORKS]
