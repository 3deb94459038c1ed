"""The duplicate guard: the same text to the same number is sent once, whoever asks at the same time."""

import asyncio
from pathlib import Path

import pytest

from pabal.domain.base.codes import Code, Refused
from pabal.domain.base.dates import HOUR, MINUTE
from pabal.domain.content.image import Image
from pabal.domain.sends.account import AccountLimits
from pabal.domain.sends.campaign import CampaignState
from pabal.domain.sends.message import Outcome, Product, Status
from pabal.domain.sends.sending import Receiver, Sending
from pabal.service.sending.accept import IdempotencyKey, accept
from pabal.service.upkeep.housekeeping import run_round
from pabal.store.accounts import account_limits
from tests.fixtures.campaigns import checked_campaign, get_campaign, phones, start_campaign
from tests.fixtures.cluster import open_cluster
from tests.fixtures.service import PHONE, FakeCarrier, Start, account_id_of, count_rows, sms
from tests.fixtures.virtual import NOON, Environment, settings_for

OTHER = "01087654321"
MINUTES = 10
pytestmark = pytest.mark.settings(duplicate_minutes=MINUTES)


async def refused_fields(env: Environment, sending: Sending) -> list[str]:
    """Return the fields that a refusal names; nothing for an accepted send."""
    try:
        await env.send(sending)
    except Refused as refused:
        return [problem.field for problem in refused.problems if problem.code is Code.DUPLICATE]
    return []


async def test_guard_is_off_by_default_and_costs_nothing(start: Start) -> None:
    env = await start()
    await env.send(sms())
    await env.send(sms())

    assert await count_rows(env, "recent_texts") == 0


async def test_duplicate_is_refused_with_its_receivers_until_the_time_is_over(env: Environment) -> None:
    await env.send(sms(PHONE))

    refused = await refused_fields(env, sms(OTHER, PHONE))
    assert refused == ["receivers[1].phoneNumber"]
    assert await refused_fields(env, sms(OTHER)) == []  # the refused request recorded nothing
    await env.wait(MINUTES * 60 - 1)
    assert await refused_fields(env, sms(PHONE)) != []
    await env.wait(1)
    assert await refused_fields(env, sms(PHONE)) == []


async def test_receivers_repeated_within_a_request_are_duplicates(env: Environment) -> None:
    assert await refused_fields(env, sms(PHONE, OTHER, PHONE)) == ["receivers[2].phoneNumber"]
    assert await refused_fields(env, sms(PHONE, OTHER)) == []


@pytest.mark.parametrize(
    "other",
    [
        sms(content="다른 내용"),
        sms(OTHER),
        sms(subject="제목", product=Product.LMS),
        sms(images=(Image("image/jpeg", "a.jpg", b"x"),), product=Product.MMS),
        sms(scheduled_at=NOON + HOUR),
        sms()._replace(receivers=[Receiver(PHONE, content="따로")]),
    ],
)
async def test_what_the_phone_shows_otherwise_is_no_duplicate(env: Environment, other: Sending) -> None:
    await env.send(sms())

    assert await refused_fields(env, other) == []
    assert await refused_fields(env, other) != []


async def test_texts_are_compared_with_variables_filled_in(env: Environment) -> None:
    def personal(value: str, template: str = "#{name}님") -> Sending:
        receivers = [Receiver(PHONE, (value,))]
        return sms(content=template, variables=("name",))._replace(receivers=receivers)

    assert await refused_fields(env, personal("민수")) == []
    assert await refused_fields(env, personal("영희")) == []
    assert await refused_fields(env, personal("민", "#{name}수님")) != []
    assert await refused_fields(env, sms(content="민수님", sender="0311234567")) != []


async def test_scheduled_send_is_guarded_until_its_time_and_beyond(env: Environment) -> None:
    at = NOON + 30 * MINUTE
    assert await refused_fields(env, sms(scheduled_at=at)) == []
    await env.jump(25 * 60)
    await run_round(env.context)
    assert await refused_fields(env, sms(scheduled_at=at)) != []


async def test_accounts_are_compared_with_themselves_alone(env: Environment) -> None:
    await env.send(sms())

    await accept(env.context, await account_id_of(env, "other"), sms())


async def test_repeat_with_the_same_key_is_no_duplicate(env: Environment) -> None:
    account_id, key = await account_id_of(env), IdempotencyKey("k", b"1")

    found = {await accept(env.context, account_id, sms(), key) for _ in range(3)}

    assert len(found) == 1


async def test_dropped_duplicates_fail_from_the_start_and_are_not_sent(start: Start) -> None:
    carrier = FakeCarrier()
    env = await start(carrier, duplicate_minutes=MINUTES, duplicate_action="drop")
    await env.send(sms(PHONE))
    await env.wait(1)

    request_id = await env.send(sms(PHONE, OTHER, OTHER))
    large = await env.send(sms(*phones(20), OTHER))
    await env.wait(1)

    dropped = (Status.FAIL, Outcome.DUPLICATE)
    assert await env.outcomes_of(request_id) == [dropped, (Status.SENDING, None), dropped]
    assert (await env.outcomes_of(large))[-1] == dropped
    assert len(carrier.ids) == 1 + 1 + 20
    assert await count_rows(env, "jobs") == len(carrier.ids)
    assert env.metric_value("pabal_messages_ended_total", product="sms", code="9005") == 3


async def test_one_of_concurrent_equal_sends_passes(env: Environment) -> None:
    results = await asyncio.gather(*(env.send(sms()) for _ in range(10)), return_exceptions=True)

    assert sum(isinstance(each, bytes) for each in results) == 1
    assert await count_rows(env, "messages") == 1


async def test_processes_guard_together(tmp_path: Path) -> None:
    async with open_cluster(tmp_path, settings=settings_for(tmp_path, duplicate_minutes=MINUTES)) as cluster:
        processes = [await cluster.start_process(name, delivers=False) for name in ("one", "two", "three")]

        results = await asyncio.gather(*(each.env.send(sms()) for each in processes), return_exceptions=True)

        assert sum(isinstance(each, bytes) for each in results) == 1


async def test_account_has_its_own_minutes(env: Environment) -> None:
    account_id = await account_id_of(env)
    await env.store.write(account_limits.save, account_id, AccountLimits(duplicate_minutes=0))
    assert [await refused_fields(env, sms()) for _ in range(2)] == [[], []]

    await env.store.write(account_limits.save, account_id, AccountLimits(duplicate_minutes=60))

    assert [await refused_fields(env, sms()) for _ in range(2)] == [[], ["receivers[0].phoneNumber"]]


async def test_campaign_drops_duplicates_instead_of_halting(env: Environment) -> None:
    numbers = phones(12)
    await env.send(sms(numbers[0]))
    campaign_id = await checked_campaign(env, numbers[:6], [*numbers[6:], numbers[1]])
    assert await start_campaign(env, campaign_id)
    await env.wait(5)

    assert (await get_campaign(env, campaign_id)).state is CampaignState.MADE
    assert env.metric_value("pabal_messages_ended_total", product="sms", code="9005") == 2


async def test_housekeeping_deletes_what_counts_no_more(env: Environment) -> None:
    await env.send(sms(PHONE, OTHER))
    await run_round(env.context)
    assert await count_rows(env, "recent_texts") == 2
    await env.wait(MINUTES * 60)

    await run_round(env.context)

    assert await count_rows(env, "recent_texts") == 0
