"""Events are posted soon after the store was away, also where nobody knows what it has stored."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from pabal.domain.events.event import EventType
from pabal.service.webhooks.fan_out import store_batch
from pabal.store.events import events
from tests.fixtures.delivery import accept_without_receipt
from tests.fixtures.endpoints import FakeEndpoints, add_webhook, event_id_of
from tests.fixtures.service import account_id_of, count_rows, sms
from tests.fixtures.virtual import Environment
from tests.fixtures.web import AWAY, FailingStore

pytestmark = pytest.mark.carrier(answer=accept_without_receipt)

SOON_S = 5.0
"""Much sooner than an idle endpoint looks for events by itself."""


@pytest.mark.parametrize("work", [store_batch, events.number_some])
async def test_event_is_posted_once_though_a_result_of_the_store_is_lost(
    failing_store: FailingStore, env: Environment, endpoints: FakeEndpoints, work: Callable[..., Any]
) -> None:
    await add_webhook(env)
    await env.send(sms())
    await env.wait(SOON_S)
    failing_store.lost_works.append(work)
    sent = await env.send(sms())
    await env.wait(SOON_S)

    assert failing_store.lost_works == []
    (post,) = endpoints.posts[1:]
    assert [item["eventId"] for item in post.items] == [event_id_of(sent)]
    assert await count_rows(env, "webhook_posts") == 0


async def test_webhook_that_was_changed_while_the_store_was_away_is_noticed(
    failing_store: FailingStore, env: Environment, endpoints: FakeEndpoints
) -> None:
    await add_webhook(env, url="https://known.example")
    failing_store.read_error = AWAY
    await env.store.write(lambda tx: tx.execute("update webhooks set url = ?", ("https://new.example",)))
    env.context.webhooks.announce_change()
    await env.wait(3)
    failing_store.read_error = None
    await env.wait(SOON_S)
    await env.send(sms())
    await env.wait(SOON_S)

    assert Counter(post.url for post in endpoints.posts) == {"https://new.example": 1}


async def test_events_are_numbered_soon_after_the_store_was_away(
    failing_store: FailingStore, env: Environment, endpoints: FakeEndpoints
) -> None:
    account_id = await account_id_of(env)
    await env.wait(1)
    failing_store.read_error = AWAY
    await env.store.write(events.record, account_id, EventType.LIMIT_NEAR, "1", {}, env.world.now())
    env.context.new_events.set()
    await env.wait(3)
    failing_store.read_error = None
    await env.wait(SOON_S)

    assert await count_rows(env, "events") == 1
