"""A campaign that is finished is told of once, with its counts."""

import pytest

from pabal.domain.events.event import EventType
from pabal.service.sending.campaigns import campaigns as service
from pabal.store.events import events
from tests.fixtures.campaigns import audit_entry, checked_campaign, get_campaign, phones, start_campaign
from tests.fixtures.delivery import accept_without_receipt
from tests.fixtures.service import account_id_of, later
from tests.fixtures.virtual import NOON, Environment


async def finished(env: Environment) -> list[dict[str, object]]:
    """Return what was told of finished campaigns."""
    account_id = await account_id_of(env)
    page = await env.store.read(events.read_after, account_id, {}, 1000, [EventType.CAMPAIGN_FINISHED])
    data = await env.store.read(events.get_data, [each.id for each in page.events])
    return [data[each.id].data for each in page.events]


@pytest.mark.carrier(answer=accept_without_receipt)
async def test_a_finished_campaign_is_told_of_once(env: Environment) -> None:
    campaign_id = await checked_campaign(env, phones(2), phones(3, 10))
    await start_campaign(env, campaign_id)
    await env.wait(1)
    assert await finished(env) == []
    await env.wait(200)

    name = (await get_campaign(env, campaign_id)).name
    counts = {"completed": 5, "fail": 0, "cancel": 0, "fallbacks": 0}
    assert await finished(env) == [{"campaignId": campaign_id.hex(), "name": name, "counts": counts}]


@pytest.mark.carrier(answer=accept_without_receipt)
async def test_a_cancelled_campaign_is_told_of_when_its_messages_have_ended(env: Environment) -> None:
    campaign_id = await checked_campaign(env, phones(2))
    await start_campaign(env, campaign_id, later(NOON, 3600))
    await env.wait(30)
    assert await finished(env) == []
    await service.cancel_campaign(env.context, await get_campaign(env, campaign_id), audit_entry(env))
    await env.wait(200)

    (told,) = await finished(env)
    assert told["counts"] == {"completed": 0, "fail": 0, "cancel": 2, "fallbacks": 0}
