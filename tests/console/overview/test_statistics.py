"""The page of statistics: any period, by up to three groups, the same numbers as the interface."""

import csv
import html
import io
import re
from typing import Any

import pytest

from pabal.domain.user import Role
from tests.fixtures.audit import latest_entries
from tests.fixtures.console import signed_in_browser
from tests.fixtures.virtual import Environment
from tests.fixtures.web import (
    FALLBACK,
    NO_USER,
    PHONE,
    RunScenario,
    alimtalk_body,
    call_ok,
    set_up_sender,
    sms_body,
)

PATH = "/console/statistics"
NO_SUCH = "010-0000-0001"


def rows_of(text: str) -> list[list[str]]:
    """Return the cells of the table."""
    body = text.partition("<tbody>")[2].partition("</tbody>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", body)
    return [[html.unescape(cell) for cell in re.findall(r"<td[^>]*>([^<]*)</td>", row)] for row in rows]


async def send_some(env: Environment) -> Any:
    """Send messages of two kinds, one of them with a fallback; return the caller."""
    call, sender_key = await set_up_sender(env)
    await call_ok(call, "message/sendSMS", sms_body(PHONE, NO_SUCH))
    await call_ok(call, "message/sendAlimtalk", alimtalk_body(sender_key, NO_USER, **FALLBACK))
    await env.wait(60)
    return call


def test_page_shows_the_last_days_by_message_type(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        await send_some(env)
        viewer = await signed_in_browser(env, Role.VIEWER)

        shown = await viewer.get(PATH)

        assert 'value="2026-11-09"' in shown.text
        assert rows_of(shown.text) == [
            ["2026-11-15", "단문 문자", "3", "2", "1", "0", "0", "1", "66.7", "50.0", "–"],
            ["2026-11-15", "알림톡", "1", "0", "1", "0", "0", "0", "0.0", "100.0", "–"],
        ]

    run_scenario(scenario)


def test_numbers_are_those_of_the_interface_in_every_group(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        call, browser = await send_some(env), await signed_in_browser(env)
        for interval, words in (
            ("hour", ["product", "status", "resultCode"]),
            ("day", ["templateCode", "sender", "key"]),
            ("month", ["carrier"]),
            ("day", []),
        ):
            query = "&".join(
                [f"from=2026-11-15&to=2026-11-15&interval={interval}", *(f"by.{each}=1" for each in words)]
            )
            asked = {"from": "2026-11-15", "interval": interval, "groupBy": ",".join(words) or None}

            shown = await browser.get(f"{PATH}?{query}")
            exported = await browser.get(f"{PATH}/table.csv?{query}")

            listed = (await call_ok(call, "statistics/list", query={k: v for k, v in asked.items() if v})).items
            _, *lines = csv.reader(io.StringIO(exported.text.removeprefix("\ufeff")))
            first = 1 + len(words)
            assert [row[first] for row in rows_of(shown.text)] == [str(each["count"]) for each in listed], words
            assert [line[first : first + 2] for line in lines] == [
                [str(each["count"]), str(each["counts"]["completed"])] for each in listed
            ]
            assert [[cell.removeprefix("'") for cell in line[:first]] for line in lines] == [
                row[:first] for row in rows_of(shown.text)
            ]
        (entry,) = await env.store.read(latest_entries, None, 1)
        assert entry.action == "statistics.export"

    run_scenario(scenario)


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
def test_wrong_query_is_told_at_its_field_and_kept(
    run_scenario: RunScenario, query: str, field: str, said: str
) -> None:
    async def scenario(env: Environment) -> None:
        browser = await signed_in_browser(env)

        shown, exported = await browser.get(f"{PATH}?{query}"), await browser.get(f"{PATH}/table.csv?{query}")

        assert (shown.status, exported.status) == (400, 400)
        (told,) = re.findall(rf'id="wrong-{field}">([^<]+)<', shown.text)
        assert said in told
        assert shown.text.count(" checked") == query.count("by.")

    run_scenario(scenario)


def test_other_accounts_have_other_numbers(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        await send_some(env)
        stranger = await signed_in_browser(env, account="other")

        shown = await stranger.get(PATH)

        assert "이 기간에 발송한 메시지가 없습니다" in shown.text

    run_scenario(scenario)
