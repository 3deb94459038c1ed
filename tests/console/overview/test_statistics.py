"""The page of statistics: any period, by up to three groups, compared with the one before."""

import csv
import html
import io
import re
from decimal import Decimal
from typing import Any

import pytest

from pabal.console.overview.statistics import MAX_COLUMNS
from pabal.domain.people.user import Role
from tests.fixtures.audit import audited
from tests.fixtures.console import Browser, signed_in_browser
from tests.fixtures.console_send import send
from tests.fixtures.sheets import read_sheets
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import FALLBACK, NO_USER, PHONE, SENDER, alimtalk_body, call_ok, set_up_sender, sms_body

PATH = "/console/statistics"
NO_SUCH = "010-0000-0001"


def rows_of(text: str, table: str = "details") -> list[list[str]]:
    """Return the cells of a table."""
    body = text.partition(f'id="{table}"')[2].partition("<tbody>")[2].partition("</tbody>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", re.sub("<svg.*?</svg>", "", body))
    cells = (re.findall(r"<t[dh][^>]*>([^<]*)</t[dh]>", row) for row in rows)
    return [[html.unescape(cell) for cell in row] for row in cells]


def points_of(text: str) -> list[str]:
    """Return what the columns of the chart say."""
    return [html.unescape(each) for each in re.findall(r'<g tabindex="0" role="img" aria-label="([^"]+)"', text)]


async def send_some(env: Environment) -> Any:
    """Send messages of two kinds, one of them with a fallback; return the caller."""
    call, sender_key = await set_up_sender(env)
    await call_ok(call, "message/sendSMS", sms_body(PHONE, NO_SUCH))
    await call_ok(call, "message/sendAlimtalk", alimtalk_body(sender_key, NO_USER, **FALLBACK))
    await env.wait(60)
    return call


async def test_page_shows_the_last_days_by_message_type(env: Environment) -> None:
    await send_some(env)
    viewer = await signed_in_browser(env, Role.VIEWER)

    shown = (await viewer.get(PATH)).text

    assert 'value="2026-11-09"' in shown
    texts, talks = (
        ["3", "2", "1", "0", "0", "1", "66.7", "50.0", "0", "–"],
        ["1", "0", "1", "0", "0", "0", "0.0", "100.0", "0", "–"],
    )
    assert rows_of(shown) == [["2026-11-15", "단문(SMS)", *texts], ["2026-11-15", "알림톡", *talks]]
    assert rows_of(shown, "groups") == [["단문(SMS)", *texts], ["알림톡", *talks]]
    days = rows_of(shown, "series")
    assert len(days) == 7
    assert days[-1][:5] == ["2026-11-15", "4", "2", "2", "0"]
    assert points_of(shown)[-1] == "2026-11-15 · 4건, 완료 2 · 실패 2, 이전 기간 0"
    assert len(points_of(shown)) == 7
    assert "비용" not in "".join(re.findall("<th[^>]*>[^<]*</th>", shown))


async def test_numbers_are_those_of_the_interface_in_every_group(env: Environment) -> None:
    call, browser = await send_some(env), await signed_in_browser(env)
    for interval, words in (
        ("hour", ["product", "status", "resultCode"]),
        ("day", ["templateCode", "sender", "key"]),
        ("month", ["carrier"]),
        ("day", ["user"]),
    ):
        query = "&".join(
            [f"from=2026-11-15&to=2026-11-15&interval={interval}", *(f"by.{each}=1" for each in words)]
        )
        asked = {"from": "2026-11-15", "interval": interval, "groupBy": ",".join(words)}

        shown = await browser.get(f"{PATH}?{query}")
        exported = await browser.get(f"{PATH}/table.csv?{query}")
        sheet = await browser.get(f"{PATH}/table.xlsx?{query}")

        listed = (await call_ok(call, "statistics/list", query=asked)).items
        _, *lines = csv.reader(io.StringIO(exported.text.removeprefix("\ufeff")))
        ((_, *cells),) = read_sheets(sheet.body).values()
        first = 1 + len(words)
        assert sorted(row[first] for row in rows_of(shown.text)) == sorted(str(each["count"]) for each in listed)
        assert sum(int(line[first + 1]) for line in lines) == sum(each["counts"]["completed"] for each in listed)
        assert [[cell.removeprefix("'") for cell in line] for line in lines] == [
            ["" if cell == "–" else cell for cell in row] for row in rows_of(shown.text)
        ]
        assert [[cell or "" for cell in row] for row in cells] == [
            [cell.removeprefix("'") for cell in line] for line in lines
        ]
    assert await audited(env, 2) == [("statistics.export", "xlsx"), ("statistics.export", "csv")]


async def test_users_and_templates_are_named(env: Environment) -> None:
    await send_some(env)
    sender = await signed_in_browser(env, Role.SENDER)
    sms = {"kind": "sms", "sender": SENDER, "content": "안녕", "receivers": f"{PHONE}\n010-2222-3333"}
    await send(sender, sms)
    await env.wait(60)

    by_user = await sender.get(f"{PATH}?from=2026-11-15&interval=day&by.user=1&by.product=1")
    by_template = await sender.get(f"{PATH}?from=2026-11-15&interval=day&by.templateCode=1")

    assert [row[:3] for row in rows_of(by_user.text, "groups")] == [
        ["단문(SMS)", "API", "3"],
        ["단문(SMS)", "sender-of-acme", "2"],
        ["알림톡", "API", "1"],
    ]
    assert [row[:2] for row in rows_of(by_template.text, "groups")] == [["없음", "5"], ["배송 안내 (T1)", "1"]]


@pytest.mark.settings(prices={"sms": Decimal("9.5")})
async def test_period_is_compared_with_the_one_before(env: Environment, call: Caller) -> None:
    await call_ok(call, "message/sendSMS", sms_body(PHONE, NO_SUCH))
    await env.wait(70)
    env.world.move_clock(24 * 3600)
    await call_ok(call, "message/sendSMS", sms_body(PHONE, "010-2222-2222", "010-3333-3333"))
    await env.wait(70)
    browser = await signed_in_browser(env)

    shown = (await browser.get(f"{PATH}?from=2026-11-16&to=2026-11-16&interval=day&compare=1&by.product=1")).text
    alone = (await browser.get(f"{PATH}?from=2026-11-16&to=2026-11-16&interval=day&by.product=1")).text
    exported = (await browser.get(f"{PATH}/table.csv?from=2026-11-16&interval=day&compare=1")).text

    assert rows_of(shown, "groups") == [
        ["단문(SMS)", "3", "3", "0", "0", "0", "0", "100.0", "100.0", "28.50", "2", "+50.0", "9.50"]
    ]
    assert points_of(shown) == ["2026-11-16 · 3건, 완료 3 · 실패 0, 이전 기간 2 (+50.0 %)"]
    assert "이전 기간 2 (&#43;50.0 %)" in shown or "이전 기간 2 (+50.0 %)" in shown
    assert rows_of(alone, "groups")[0][-2:] == ["100.0", "28.50"]
    assert 'class="before"' in shown
    assert 'class="before"' not in alone
    assert exported.splitlines()[1].endswith("28.50,2,9.50")


@pytest.mark.settings(prices={"sms": Decimal("20.25")})
async def test_chart_shows_cost_where_prices_are_known(env: Environment, call: Caller, browser: Browser) -> None:
    await call_ok(call, "message/sendSMS", sms_body(PHONE, "010-2222-2222"))
    await env.wait(60)

    shown = (await browser.get(f"{PATH}?from=2026-11-15&interval=day&show=cost")).text
    months = (await browser.get(f"{PATH}?from=2026-11-01&interval=month&show=cost")).text
    counted = (await browser.get(f"{PATH}?from=2026-11-15&interval=day")).text

    assert points_of(shown) == ["2026-11-15 · 40.50원"]
    assert points_of(months) == ["2026-11 · 40.50원"]
    assert '<rect class="cost" x' in shown
    assert "<span>60원</span>" in shown, "the scale is in won"
    assert re.search(r'href="[^"]*show=cost[^"]*#series-title">비용</a>', counted)


async def test_long_periods_are_shown_several_to_a_column_and_stay_small(
    env: Environment, browser: Browser
) -> None:
    await send_some(env)

    shown = await browser.get(f"{PATH}?from=2026-08-15&to=2026-11-15&interval=day&by.product=1&compare=1")

    points = points_of(shown.text)
    assert len(points) <= MAX_COLUMNS
    assert points[0].startswith("2026-08-15 ~ 08-17 · 0건")
    assert sum(int(row[1]) for row in rows_of(shown.text, "series")) == 4
    assert "이전 기간은 월별로만" in shown.text
    assert len(shown.text.encode()) < 70_000


@pytest.mark.parametrize(
    ("query", "field", "said"),
    [
        ("from=&interval=day", "from", "비어 있습니다"),
        ("from=yesterday&interval=day", "from", "yyyy-MM-dd"),
        ("from=2026-11-15&to=2026-11-01&interval=day", "to", "종료일이 시작일보다"),
        ("from=2026-11-15&interval=year", "interval", "허용되는 값"),
        ("from=2026-01-01&interval=hour", "from", "31일까지"),
        ("from=2026-11-15&by.product=1&by.status=1&by.key=1&by.sender=1", "groupBy", "3개까지"),
    ],
)
async def test_wrong_query_is_told_at_its_field_and_kept(
    browser: Browser, query: str, field: str, said: str
) -> None:
    shown, exported = await browser.get(f"{PATH}?{query}"), await browser.get(f"{PATH}/table.csv?{query}")

    assert (shown.status, exported.status) == (400, 400)
    (told,) = re.findall(rf'id="wrong-{field}">([^<]+)<', shown.text)
    assert said in told
    assert len(re.findall(r'name="by[^>]* checked', shown.text)) == query.count("by.")
