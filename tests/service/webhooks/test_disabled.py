"""A disabled webhook misses nothing: what it was not told is counted, and told when it is enabled again."""

from collections import Counter

import pytest

from pabal.domain.base.dates import DAY, MINUTE
from pabal.domain.events.webhook import Webhook, WebhookState
from pabal.service.webhooks import manage
from pabal.service.webhooks.fan_out import CUT_INTERVAL_S
from pabal.service.webhooks.manage import ListedWebhook, WebhookFields
from pabal.service.webhooks.retries import must_disable
from pabal.store.accounts import accounts
from pabal.store.accounts.audit_log import AuditEntry
from pabal.webhooks.poster import PostResult
from tests.fixtures.delivery import accept_without_receipt
from tests.fixtures.endpoints import BROKEN, GONE, OK, FakeEndpoints, add_webhook, event_id_of, get_webhook
from tests.fixtures.service import account_id_of, sms
from tests.fixtures.virtual import Environment

pytestmark = pytest.mark.carrier(answer=accept_without_receipt)


async def send_some(env: Environment, number: int, pause_s: float = 0.0) -> list[str]:
    """Send messages; return the ids of their events."""
    sent = []
    for _ in range(number):
        sent.append(event_id_of(await env.send(sms())))
        await env.wait(pause_s)
    await env.wait(3)
    return sent


async def update(env: Environment, webhook_id: int, fields: WebhookFields) -> ListedWebhook:
    account_id = await account_id_of(env)
    entry = AuditEntry(env.world.now(), None, "test", account_id, "webhook.update", str(webhook_id))
    listed, _ = await manage.update(env.context, account_id, webhook_id, fields, entry)
    return listed


async def get_listed(env: Environment) -> ListedWebhook:
    (found,) = await manage.list_all(env.context, await account_id_of(env))
    return found


def facts(webhook: Webhook) -> tuple[str, bool, int]:
    return webhook.state.code, webhook.is_gone, webhook.dropped


async def test_every_result_is_told_after_a_webhook_disabled_by_410_is_enabled_again(
    env: Environment, endpoints: FakeEndpoints
) -> None:
    one = await add_webhook(env)
    told = await send_some(env, 3, 1.5)
    endpoints.answer = GONE
    missed = await send_some(env, 30, 25)
    off = await get_listed(env)
    posts = len(endpoints.posts)
    missed += await send_some(env, 20)
    await env.wait(600)

    listed = await get_listed(env)
    assert (facts(off.webhook), facts(listed.webhook)) == (("disabled", True, 0), ("disabled", True, 0))
    assert listed.backlog == len(missed) == 50
    assert len(endpoints.posts) == posts
    assert endpoints.event_ids() == Counter(told)

    endpoints.answer = OK
    await update(env, one, WebhookFields(is_enabled=True))
    await env.wait(30)
    after = await get_listed(env)
    assert endpoints.event_ids() == Counter(told + missed)
    assert (facts(after.webhook), after.backlog) == (("active", False, 0), 0)


async def test_webhook_enabled_without_replay_begins_anew_and_counts_what_it_has_missed(
    env: Environment, endpoints: FakeEndpoints
) -> None:
    one = await add_webhook(env)
    endpoints.answer = BROKEN
    await send_some(env, 4, 1.5)
    await update(env, one, WebhookFields(is_enabled=False))
    await send_some(env, 7)
    endpoints.answer = OK
    enabled = await update(env, one, WebhookFields(is_enabled=True, skips_missed=True))
    later = await send_some(env, 2)

    assert (facts(enabled.webhook), enabled.backlog) == (("active", False, 11), 0)
    assert env.metric_value("pabal_webhook_events_total", result="dropped") == 11
    assert endpoints.event_ids() == Counter(later)


@pytest.mark.parametrize("other", [BROKEN, OK])
async def test_410s_of_less_than_ten_minutes_disable_nothing(
    env: Environment, endpoints: FakeEndpoints, other: PostResult
) -> None:
    one = await add_webhook(env)
    endpoints.answer = GONE
    await send_some(env, 8, 1.5)
    often = await get_webhook(env, one)
    endpoints.answer = other
    await env.wait(70)

    assert (often.state, often.gone >= 5) == (WebhookState.ACTIVE, True)
    assert (await get_webhook(env, one)).gone == 0


@pytest.mark.parametrize(
    ("gone", "gone_since", "is_disabled"), [(5, 0, True), (4, 0, False), (5, 1, False), (0, None, False)]
)
def test_five_410s_over_ten_minutes_disable(gone: int, gone_since: int | None, is_disabled: bool) -> None:
    assert must_disable(gone, gone_since, 10 * MINUTE) is is_disabled


@pytest.mark.first_case
@pytest.mark.parametrize("is_account", [False, True])
async def test_what_is_missed_for_more_than_a_week_is_given_up_and_counted(
    env: Environment, endpoints: FakeEndpoints, is_account: bool
) -> None:
    one = await add_webhook(env)
    endpoints.answer = BROKEN
    old = await send_some(env, 2)
    if is_account:
        await env.store.write(accounts.set_disabled, "acme", env.world.now())
    else:
        await update(env, one, WebhookFields(is_enabled=False))
        old += await send_some(env, 3)
    await env.wait(60)
    env.world.starts_at += 6 * DAY
    await env.wait(CUT_INTERVAL_S + 10)
    kept = await get_webhook(env, one)
    recent = [] if is_account else await send_some(env, 4)
    env.world.starts_at += 2 * DAY
    await env.wait(CUT_INTERVAL_S + 10)
    cut = await get_listed(env)

    assert (kept.dropped, cut.webhook.dropped, cut.backlog) == (0, len(old), len(recent))
    assert env.metric_value("pabal_webhook_events_total", result="dropped") == len(old)
