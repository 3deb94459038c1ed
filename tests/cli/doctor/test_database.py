"""`pabal doctor` on PostgreSQL: months without partitions."""

import asyncio

import pytest

from pabal.cli.doctor.database import check_months
from pabal.cli.doctor.finding import Finding
from pabal.domain.base.dates import DAY, Instant
from pabal.store.engine.postgres import partitions
from pabal.world import RealWorld
from tests.fixtures import postgres
from tests.fixtures.postgres_store import open_postgres

FEBRUARY = partitions.month_start(202702)
"""The first month for which a new store of the tests has no partitions."""


class DatedWorld(RealWorld):
    """A world in which it is always the same time."""

    def __init__(self, at: Instant) -> None:
        super().__init__()
        self._at = at

    def now(self) -> Instant:
        return self._at


@pytest.mark.slow
@pytest.mark.parametrize(("days_before", "missing"), [(8, 0), (7, 1), (0, 1), (-25, 2)])
def test_month_without_partitions_is_noted_a_week_before(days_before: int, missing: int) -> None:
    async def check() -> list[Finding]:
        async with open_postgres(postgres.empty_database()) as store:
            return [each async for each in check_months(store, DatedWorld(FEBRUARY - days_before * DAY))]

    found = asyncio.run(check())

    assert [f"({missing})" in each.message.en for each in found] == [True] * bool(missing)
