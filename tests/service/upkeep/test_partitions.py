"""Monthly partitions over time: created ahead, dropped when their retention ends."""

from pabal.domain.base.dates import DAY, MINUTE, Period
from pabal.domain.sends.message import Status
from pabal.service.upkeep.retention import maintain_partitions
from pabal.store.engine.postgres import partitions
from pabal.store.messages import messages, requests, statistics
from tests.fixtures.engines import partitioned_only
from tests.fixtures.service import Start, account_id_of, message_id_of, sms
from tests.fixtures.virtual import NOON, Environment, VirtualWorld

RETENTION = 180 * DAY
END = partitions.month_start(202612)
"""The end of the month in which the virtual clock starts."""


@partitioned_only
async def test_month_is_dropped_when_all_of_it_exceeds_the_retention(start: Start) -> None:
    sent: list[bytes] = []
    env = await start()
    sent.append(await env.send(sms()))
    await env.wait(5)

    env = await start(world=VirtualWorld(1, END + RETENTION - MINUTE))
    await env.wait(1)
    assert len(await env.messages_of(sent[0])) == 1

    env = await start(world=VirtualWorld(2, END + RETENTION + MINUTE))
    await env.wait(70)  # the first full round makes its statistics final
    (row,) = await env.store.read(statistics.list_groups, await account_id_of(env), [Period(0, END)], [], 10)
    assert (row.by_status[Status.COMPLETED.number], row.counts.messages) == (1, 1)
    assert await env.store.read(requests.get, sent) == {}
    assert await env.store.read(messages.get, [message_id_of(sent[0])]) == {}


@partitioned_only
async def test_running_service_creates_partitions_ahead(env: Environment) -> None:
    world = env.world
    world.starts_at += 100 * DAY
    await maintain_partitions(env.context)

    assert await env.store.read(partitions.missing_months, NOON + 100 * DAY) == []
    assert (await env.store.read(partitions.expired_months, NOON + 365 * DAY))[-1] == 202704
