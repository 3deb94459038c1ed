"""The overview page: statistics of one account, and charts that are also tables."""

import csv
import io
import re
from decimal import Decimal

import pytest

from pabal.console.overview import figures
from pabal.console.overview.figures import BAR_LENGTH
from pabal.domain.base.dates import MINUTE
from pabal.domain.people.user import Role
from pabal.domain.sends.account import AccountLimits
from pabal.store.accounts import account_limits
from pabal.store.queue import carriers, slots
from pabal.store.queue.carriers import CarrierState
from tests.fixtures.console import Browser, signed_in_browser
from tests.fixtures.virtual import NOON, Caller, Environment
from tests.fixtures.web import FALLBACK, NO_USER, PHONE, alimtalk_body, call_ok, set_up_sender, sms_body

NO_SUCH = "010-0000-0001"
COUNT = re.compile(r'<b data-kind="(\w+)">([\d,]+)</b>')
CARD = re.compile(
    r'<div class="(\w+)"><dt>[^<]+</dt><dd>([^<]+)</dd>\s*<dd class="note (\w*)">(?:<a[^>]+>)?([^<]+)<'
)


def tiles(text: str) -> dict[str, int]:
    return {kind: int(number.replace(",", "")) for kind, number in COUNT.findall(text)}


def cards(text: str) -> dict[str, tuple[str, str, str]]:
    """Return value, tone and note of each card."""
    return {key: (value, tone, note) for key, value, tone, note in CARD.findall(text)}


def row(text: str, first: str) -> list[str]:
    """Return the cells of the row that starts with this text, without markup."""
    (found,) = re.findall(
        rf"<tr><td[^>]*>(?:<time>)?{re.escape(first)}(?:</time>)?</td>(.*?)</tr>", text, re.DOTALL
    )
    return [re.sub(r"<[^>]+>", "", cell).strip() for cell in re.findall(r"<td.*?</td>", found, re.DOTALL)]


async def test_overview_counts_today_by_message_type_status_and_failure_reason(
    env: Environment, call: Caller, alimtalk_key: str
) -> None:
    await call_ok(call, "message/sendSMS", sms_body("010-1111-1111", "010-2222-2222", NO_SUCH))
    await call_ok(call, "message/sendSMS", sms_body(sendDate="2026-11-16 12:00"))
    await call_ok(call, "message/sendAlimtalk", alimtalk_body(alimtalk_key))
    await env.wait(5)
    browser = await signed_in_browser(env, Role.VIEWER)

    shown = (await browser.get("/console?days=1")).text

    assert tiles(shown) == {"completed": 3, "fail": 1, "open": 1, "cancel": 0}
    assert row(shown, "단문(SMS)") == ["", "2", "1", "1", "0", "4", "66.7%", "66.7%"]
    assert row(shown, "알림톡") == ["", "1", "0", "0", "0", "1", "100.0%", "100.0%"]
    assert row(shown, "2026-11-15") == ["3", "1", "1", "0", "5", "75.0%"]
    assert row(shown, "결번") == ["3003", "", "1"]
    assert row(shown, "simulator")[2:] == ["분당 0건", "없음"]
    await env.wait(6)
    assert row((await browser.get("/console")).text, "simulator")[2] == "분당 18건"
    assert "/console/history?status=fail&amp;requested_from=2026-11-15&amp;requested_to=2026-11-15" in shown


async def test_overview_days_follow_the_time_zone_and_period_can_be_chosen(env: Environment, call: Caller) -> None:
    await call_ok(call, "message/sendSMS", sms_body(NO_SUCH))
    await env.wait(70)
    env.world.move_clock(11 * 3600 + 50 * 60)
    await call_ok(call, "message/sendLMS", sms_body())
    await env.wait(70)
    env.world.move_clock(9 * 24 * 3600)
    browser = await signed_in_browser(env)

    today = (await browser.get("/console?days=1")).text
    week = (await browser.get("/console")).text
    month = (await browser.get("/console?days=28")).text
    nonsense = await browser.get("/console?days=-1")

    assert tiles(today) == {"completed": 0, "fail": 0, "open": 0, "cancel": 0}
    assert "이 기간에 발송한 메시지가 없습니다" in week
    assert row(month, "2026-11-15")[:2] == ["1", "1"]
    assert row(month, "장문(LMS)")[1:2] == ["1"]
    assert row(month, "결번") == ["3003", "", "1"]
    assert nonsense.status == 200


@pytest.mark.settings(prices={"sms": Decimal("1234.5")})
async def test_overview_shows_who_was_reached_and_what_that_cost(
    env: Environment, call: Caller, alimtalk_key: str, viewer: Browser
) -> None:
    await call_ok(call, "message/sendAlimtalk", alimtalk_body(alimtalk_key, NO_USER, **FALLBACK))
    await call_ok(call, "message/sendAlimtalk", alimtalk_body(alimtalk_key, PHONE))
    await env.wait(60)
    shown = (await viewer.get("/console?days=1")).text

    assert row(shown, "알림톡")[-4:] == ["2", "50.0%", "100.0%", "–"]
    assert row(shown, "단문(SMS)")[-4:] == ["1", "100.0%", "–", "1,234.5원"]


@pytest.mark.settings(prices={"sms": Decimal("9.5")})
async def test_cards_compare_today_with_the_same_time_last_week(env: Environment, call: Caller) -> None:
    await call_ok(call, "message/sendSMS", sms_body(PHONE, NO_SUCH))
    await env.wait(5)
    env.world.move_clock(2 * 3600)
    await call_ok(call, "message/sendSMS", sms_body(PHONE))  # later than the same time of the week after
    await env.wait(70)
    env.world.move_clock(7 * 24 * 3600 - 3600)
    await call_ok(call, "message/sendSMS", sms_body(PHONE, "010-2222-2222", "010-3333-3333", NO_SUCH))
    await env.wait(5)

    viewer = await signed_in_browser(env, Role.VIEWER)

    assert cards((await viewer.get("/console")).text) == {
        "total": ("4", "", "지난주 이 시각보다 +100%"),
        "reached": ("75.0%", "good", "지난주 이 시각보다 +25.0%p"),
        "fail": ("1", "bad", "결번 1"),
        "cost": ("47.5원", "", "월 한도 없음"),
    }


@pytest.mark.settings(prices={"sms": Decimal(10)})
async def test_card_of_costs_shows_the_share_of_the_budget(env: Environment, call: Caller, viewer: Browser) -> None:
    limits = AccountLimits(budget_per_month=20)
    await env.store.write(account_limits.save, await env.account_id(), limits)
    await call_ok(call, "message/sendSMS", sms_body(PHONE))
    await env.wait(5)

    assert cards((await viewer.get("/console")).text)["cost"] == ("10원", "", "월 한도 20원의 50%")


async def test_without_prices_a_card_shows_what_is_not_sent_yet(
    env: Environment, call: Caller, viewer: Browser
) -> None:
    await call_ok(call, "message/sendSMS", sms_body(sendDate="2026-11-16 12:00"))

    shown = cards((await viewer.get("/console?show=cost")).text)

    assert shown["open"] == ("1", "", "예약과 결과 대기 포함")
    assert shown["reached"] == ("–", "", "아직 발송이 끝난 수신자 없음")
    assert "cost" not in shown


async def test_exported_statistics_are_those_of_the_interface(env: Environment, call: Caller) -> None:
    await call_ok(call, "message/sendSMS", sms_body(PHONE, NO_SUCH))
    await env.wait(5)
    browser, stranger = await signed_in_browser(env), await signed_in_browser(env, account="other")

    exported = await browser.get("/console/statistics.csv")
    theirs = await stranger.get("/console/statistics.csv")
    asked = {"from": "2026-11-15", "groupBy": "product,status,resultCode"}
    listed = (await call_ok(call, "statistics/list", query=asked)).items

    head, *rows = csv.reader(io.StringIO(exported.text.removeprefix("\ufeff")))
    assert head[:2] == ["날짜", "메시지 종류"]
    assert rows == [
        ["2026-11-15", "단문(SMS)", "완료", "1000", "전달됨", "1", "0", "1", ""],
        ["2026-11-15", "단문(SMS)", "실패", "3003", "결번", "1", "0", "0", ""],
    ]
    assert [(each["resultCode"]["value"], each["count"]) for each in listed] == [("1000", 1), ("3003", 1)]
    assert len(theirs.text.splitlines()) == 1


async def test_overview_shows_worst_carrier_state_of_all_workers_without_reason(
    env: Environment,
) -> None:
    for worker, state in (("a", "up"), ("b", "down"), ("c", "up")):
        reason = "10.0.0.1 refused" if state == "down" else ""
        await env.store.write(slots.register, worker.encode(), worker, env.world.now())
        await env.store.write(carriers.save_state, CarrierState("simulator", state, NOON, reason, worker))
    browser = await signed_in_browser(env, Role.VIEWER)

    shown = (await browser.get("/console")).text

    assert '<span class="state down">연결 끊김</span>' in shown
    assert "10.0.0.1" not in shown


async def test_overview_says_on_top_what_waits_because_no_carrier_is_up(
    env: Environment, viewer: Browser, operator: Browser
) -> None:
    await env.store.write(carriers.save_state, CarrierState("simulator", "down", NOON - 12 * MINUTE, "refused"))

    shown, to_operator = await viewer.get("/console"), await operator.get("/console")

    assert "발송 경로(simulator)에 12분째 연결되지 않습니다. 단문(SMS)" in shown.text
    assert 'href="/console/requests?state=moving"' in shown.text
    assert '<a class="button small" href="/console/operate">' in to_operator.text
    await env.store.write(carriers.save_state, CarrierState("simulator", "up", NOON, ""))
    assert "연결되지 않습니다" not in (await viewer.get("/console")).text


async def test_overview_shows_a_carrier_that_works_only_in_part(env: Environment, browser: Browser) -> None:
    reason = "sms: -1000 Invalid appKey."
    await env.store.write(carriers.save_state, CarrierState("simulator", "up", NOON, reason))

    shown = (await browser.get("/console")).text

    assert '<span class="state partly">일부만 정상</span>' in shown
    assert reason not in shown


def test_chart_bars_fit_their_area_and_small_amounts_stay_visible() -> None:
    amounts = [("completed", 999_990), ("fail", 9), ("open", 0), ("cancel", 1)]

    line = figures.build_bar(amounts, 1_000_000)

    assert [part.kind for part in line] == ["completed", "fail", "cancel"]
    assert [part.x for part in line] == sorted(part.x for part in line)
    assert all(part.width >= 1 for part in line)
    assert line[0].width <= BAR_LENGTH
    assert figures.build_bar([("completed", 0)], 1) == []


async def test_new_account_is_shown_what_to_set_up_until_it_has_sent(env: Environment, browser: Browser) -> None:
    _, steps = (await browser.get("/console")).text.split('<ol class="steps">')
    assert re.findall(r'<li( class="done")?><a href="([^"]+)">', steps.split("</ol>")[0]) == [
        ("", "/console/numbers"),
        ("", "/console/profiles/new"),
        ("", "/console/templates/new"),
        ("", "/console/team"),
        ("", "/console/send"),
    ]

    call, sender_key = await set_up_sender(env)
    shown = (await browser.get("/console")).text
    done = re.findall(r'<li class="done"><a href="([^"]+)">', shown)
    assert done == ["/console/profiles/new", "/console/templates/new"]

    await call_ok(call, "message/sendAlimtalk", alimtalk_body(sender_key))
    await env.wait(5)
    assert "first-steps" not in (await browser.get("/console")).text


async def test_viewers_are_shown_no_step_that_they_may_not_take(viewer: Browser) -> None:
    assert "first-steps" not in (await viewer.get("/console")).text
