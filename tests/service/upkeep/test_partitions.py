"""Months as time goes by: made before they begin, dropped with all they hold when the retention is over."""

from pabal.domain.dates import DAY, MINUTE
from pabal.domain.message import Outcome, Product, Status
from pabal.service.upkeep.partitions import keep_months
from pabal.store import messages, requests
from pabal.store.engine import partitions
from tests.fixtures.engines import with_months
from tests.fixtures.service import RunScenario, account, first, of, send, sms
from tests.fixtures.virtual import NOON, Environment, VirtualWorld

RETENTION = 180 * DAY
END = partitions.begin_of(202612)
"""The end of the month in which tests begin."""


@with_months
def test_a_month_goes_when_all_of_it_is_older_than_the_retention(run_scenario: RunScenario) -> None:
    sent: list[bytes] = []

    async def begin(env: Environment) -> None:
        sent.append(await send(env, sms()))
        await env.wait(5)

    async def just_before(env: Environment) -> None:
        await env.wait(1)
        assert len(await of(env, sent[0])) == 1
        assert await env.store.read(partitions.counts) == {}

    async def after(env: Environment) -> None:
        await env.wait(1)
        ended = (202611, await account(env), Product.SMS.number, Status.COMPLETED.number, Outcome.DELIVERED.number)

        assert await env.store.read(partitions.counts) == {ended: 1}
        assert await env.store.read(requests.get, sent) == {}
        assert await env.store.read(messages.get, [first(sent[0])]) == {}

    run_scenario(begin)
    run_scenario(just_before, world=VirtualWorld(1, END + RETENTION - MINUTE))
    run_scenario(after, world=VirtualWorld(2, END + RETENTION + MINUTE))


@with_months
def test_a_running_service_makes_the_months_ahead(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        world = env.world
        world.begins_at += 100 * DAY
        await keep_months(env.context)

        assert await env.store.read(partitions.missing, NOON + 100 * DAY) == []
        assert (await env.store.read(partitions.over, NOON + 365 * DAY))[-1] == 202704

    run_scenario(scenario)
