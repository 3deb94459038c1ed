"""Months as time goes by: made before they begin, dropped with all they hold when the retention is over."""

from pabal.domain.dates import DAY, MINUTE
from pabal.domain.message import Outcome, Product, Status
from pabal.service.upkeep.partitions import keep_months
from pabal.store import messages, requests
from pabal.store.engine import partitions
from tests.fixtures.engines import with_months
from tests.fixtures.service import Play, account, first, of, send, sms
from tests.fixtures.virtual import NOON, Town, VirtualWorld

RETENTION = 180 * DAY
END = partitions.begin_of(202612)
"""The end of the month in which tests begin."""


@with_months
def test_a_month_goes_when_all_of_it_is_older_than_the_retention(play: Play) -> None:
    sent: list[bytes] = []

    async def begin(town: Town) -> None:
        sent.append(await send(town, sms()))
        await town.wait(5)

    async def just_before(town: Town) -> None:
        await town.wait(1)
        assert len(await of(town, sent[0])) == 1
        assert await town.store.read(partitions.counts) == {}

    async def after(town: Town) -> None:
        await town.wait(1)
        ended = (202611, await account(town), Product.SMS.number, Status.COMPLETED.number, Outcome.DELIVERED.number)

        assert await town.store.read(partitions.counts) == {ended: 1}
        assert await town.store.read(requests.get, sent) == {}
        assert await town.store.read(messages.get, [first(sent[0])]) == {}

    play(begin)
    play(just_before, world=VirtualWorld(1, END + RETENTION - MINUTE))
    play(after, world=VirtualWorld(2, END + RETENTION + MINUTE))


@with_months
def test_a_running_service_makes_the_months_ahead(play: Play) -> None:
    async def scene(town: Town) -> None:
        world = town.world
        world.begins_at += 100 * DAY
        await keep_months(town.context)

        assert await town.store.read(partitions.missing, NOON + 100 * DAY) == []
        assert (await town.store.read(partitions.over, NOON + 365 * DAY))[-1] == 202704

    play(scene)
