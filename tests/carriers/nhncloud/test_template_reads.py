"""Reads and clicks by template and day, in the statistics of the API and of the console."""

import csv
import io

import pytest

from pabal.domain.base.dates import DAY, MINUTE, SECOND
from tests.carriers.relay.delivery_fixture import send_of
from tests.fakes.nhncloud.kakao_statistics import TemplateDay
from tests.fixtures.console import signed_in_browser
from tests.fixtures.nhncloud import SENDER_KEY, NhnCloud
from tests.fixtures.relay_delivery import RELAY
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import call_ok

DAY_SENT = "2026-11-15"
BY_TEMPLATE = {"from": DAY_SENT, "interval": "day", "groupBy": "templateCode"}
CALLS = "/kakao-statistics/template-statistics/"


async def send_on_the_day_before(fixture: NhnCloud, env: Environment, *days: TemplateDay) -> Caller:
    """Send an Alimtalk of template T1, and go to the next day, when Kakao has figures."""
    call = await fixture.add_channel(env)
    await env.store.write(lambda tx: tx.execute("update profiles set carrier = ?", (RELAY,)))
    await call_ok(call, *send_of("alimTalk", SENDER_KEY))
    await env.wait(60)
    env.world.move_clock(DAY // SECOND)
    fixture.set_clock(DAY // MINUTE)
    fixture.relay.template_days.extend(days)
    return call


def figures(sent: int = 100, read: int = 80, clicked: int = 30, kind: str = "ALIMTALK") -> TemplateDay:
    return TemplateDay(kind, SENDER_KEY, DAY_SENT, "T1", sent, read, clicked)


async def test_day_of_a_template_has_reads_and_clicks(fixture: NhnCloud, env: Environment) -> None:
    call = await send_on_the_day_before(fixture, env, figures(), figures(20, 9, 1, "BRANDMESSAGE"))

    (row,) = (await call_ok(call, "statistics/list", query=BY_TEMPLATE)).items

    assert (row["templateCode"], row["date"][:10]) == ("T1", DAY_SENT)
    assert (row["readCount"], row["clickCount"]) == (89, 31)
    await call_ok(call, "statistics/list", query=BY_TEMPLATE)
    assert sum(CALLS in each.path for each in fixture.relay.calls) == 2  # Alimtalk and brand messages, once


@pytest.mark.parametrize(
    ("query", "days", "is_reachable"),
    [
        (BY_TEMPLATE, [figures(10)], True),
        (BY_TEMPLATE, [], True),
        (BY_TEMPLATE, [figures()], False),
        ({**BY_TEMPLATE, "interval": "month"}, [figures()], True),
        ({**BY_TEMPLATE, "groupBy": "templateCode,status"}, [figures()], True),
        ({**BY_TEMPLATE, "groupBy": "product"}, [figures()], True),
    ],
    ids=["too few", "none", "relay away", "month", "two groups", "another group"],
)
async def test_reads_are_absent_where_they_are_not_known(
    fixture: NhnCloud, env: Environment, query: dict[str, str], days: list[TemplateDay], is_reachable: bool
) -> None:
    call = await send_on_the_day_before(fixture, env, *days)
    fixture.set_reachable(is_reachable)

    (row,) = (await call_ok(call, "statistics/list", query=query)).items

    assert row["count"] == 1
    assert not {"readCount", "clickCount"} & row.keys()


async def test_console_shows_and_exports_them(fixture: NhnCloud, env: Environment) -> None:
    await send_on_the_day_before(fixture, env, figures())
    browser = await signed_in_browser(env)
    query = f"from={DAY_SENT}&to={DAY_SENT}&interval=day&by.templateCode=1"

    page = (await browser.get(f"/console/statistics?{query}")).text
    table = (await browser.get(f"/console/statistics/table.csv?{query}")).text.removeprefix("\ufeff")

    assert ">읽음</th>" in page
    assert ">클릭</th>" in page
    head, row = csv.reader(io.StringIO(table))
    assert dict(zip(head, row, strict=True))["읽음"] == "80"
    assert dict(zip(head, row, strict=True))["클릭"] == "30"
