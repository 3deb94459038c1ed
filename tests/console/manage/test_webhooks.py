"""The pages of webhooks: an owner creates, tests, pauses, rotates, replays and deletes one."""

import re
from typing import Any

import pytest

from pabal.domain.user import Role
from pabal.webhooks.poster import PostError, PostResult
from tests.fixtures.audit import latest_entries
from tests.fixtures.console import Browser, signed_in_browser
from tests.fixtures.virtual import Environment
from tests.fixtures.web import RunScenario, call_ok
from tests.fixtures.webhook_calls import poster_of, verify

PATH = "/console/webhooks"
URL = "https://shop.example/pabal"
RESULTS = {"event.message.result": "1"}


async def create(browser: Browser, **fields: str) -> tuple[str, str]:
    """Create a webhook; return its page and its secret."""
    shown = await browser.submit(PATH, **{"url": URL, **RESULTS, **fields})
    assert shown.status == 200, shown.text
    (secret,) = re.findall(r"whsec_[A-Za-z0-9+/=]+", shown.text.replace("&#43;", "+").replace("&#61;", "="))
    (page,) = set(re.findall(rf"{PATH}/[0-9]+", shown.text))
    return page, secret


def test_owner_creates_a_webhook_and_sees_its_secret_once(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        call, browser = await env.caller(), await signed_in_browser(env)
        more = {"event.limit.near": "1", "product.sms": "1", "description": "주문"}

        empty = await browser.get(PATH)
        page, secret = await create(browser, **more)
        listed, shown = await browser.get(PATH), await browser.get(page)

        (item,) = (await call_ok(call, "webhook/list")).items
        assert "등록된 웹훅이 없습니다" in empty.text
        assert (item["url"], item["events"], item["products"]) == (URL, ["message.result", "limit.near"], ["sms"])
        for each in (listed, shown):
            assert URL in each.text
            assert "주문" in each.text
            assert secret not in each.text
        assert "한도 임박" in shown.text
        (entry,) = await env.store.read(latest_entries, None, 1)
        assert (entry.action, entry.actor) == ("webhook.create", "owner-of-acme")

    run_scenario(scenario)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"url": "http://shop.example", **RESULTS}, "https://로 시작해야 합니다"),
        ({"url": "", **RESULTS}, "비어 있습니다"),
        ({"url": "https://192.168.0.1/", **RESULTS}, "허용되지 않는 주소"),
        ({"url": URL}, "비어 있습니다"),
        ({"url": URL, "event.nothing": "1"}, "허용되는 값"),
    ],
)
def test_wrong_form_is_shown_again_with_what_is_wrong(
    run_scenario: RunScenario, fields: dict[str, str], said: str
) -> None:
    async def scenario(env: Environment) -> None:
        browser = await signed_in_browser(env)

        shown = await browser.submit(PATH, **fields, description="내 메모")

        assert shown.status == 400
        assert said in shown.text
        assert "내 메모" in shown.text
        assert "등록된 웹훅이 없습니다" in shown.text

    run_scenario(scenario)


def test_form_is_gone_when_there_are_ten(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        browser = await signed_in_browser(env)
        for _ in range(10):
            await create(browser)

        full = await browser.get(PATH)
        refused = await browser.submit(PATH, url=URL, **RESULTS)

        assert "10개까지" in full.text
        assert 'name="url"' not in full.text
        assert refused.status == 409

    run_scenario(scenario)


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (PostResult(200, b"<b>ok</b>", 7), "응답: HTTP 200 (7 ms)"),
        (PostResult(500, b"", 8), "응답: HTTP 500 (8 ms)"),
        (PostResult(None, b"", 9, PostError.TLS, "certificate has expired"), "tls: certificate has expired (9 ms)"),
    ],
)
def test_test_shows_what_came_back(run_scenario: RunScenario, result: PostResult, said: str) -> None:
    async def scenario(env: Environment) -> None:
        browser = await signed_in_browser(env)
        page, secret = await create(browser)
        poster_of(env).results = [result]

        shown = await browser.submit(f"{page}/test")
        again = await browser.submit(f"{page}/test")

        assert said in shown.text
        assert "<b>" not in shown.text
        assert again.status == 429
        assert len(re.findall("<tr>", shown.text)) == 2
        verify(secret, poster_of(env).received[0])

    run_scenario(scenario)


def test_webhook_is_disabled_enabled_and_deleted(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        call, browser = await env.caller(), await signed_in_browser(env)
        page, _ = await create(browser)

        async def state() -> Any:
            (item,) = (await call_ok(call, "webhook/list")).items
            return item["state"]["value"]

        await browser.submit(f"{page}/state", enabled="false")
        off = await state()
        shown = await browser.get(page)
        await browser.submit(f"{page}/state", enabled="true")
        on = await state()
        gone = await browser.submit(f"{page}/delete")

        assert (off, on) == ("disabled", "active")
        assert "사용 안 함" in shown.text
        assert (gone.status, gone.location) == (303, PATH)
        assert (await browser.get(page)).status == 404
        entries = await env.store.read(latest_entries, None, 3)
        assert [each.action for each in entries] == ["webhook.delete", "webhook.update", "webhook.update"]

    run_scenario(scenario)


def test_secret_is_rotated_and_the_new_one_shown_once(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        browser = await signed_in_browser(env)
        page, old = await create(browser)

        rotated = await browser.submit(f"{page}/rotate")
        shown = await browser.get(page)
        await browser.submit(f"{page}/test")

        assert "whsec_" in rotated.text
        assert "whsec_" not in shown.text
        assert "2026-11-16 12:00:00" in shown.text
        verify(old, poster_of(env).received[0])

    run_scenario(scenario)


def test_replay_wants_a_time_of_the_last_seven_days(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        browser = await signed_in_browser(env)
        page, _ = await create(browser)

        done = await browser.submit(f"{page}/replay", since="2026-11-15 11:00")
        wrong = await browser.submit(f"{page}/replay", since="2026-11-01 11:00")

        assert (done.status, "곧 다시 보냅니다" in done.text) == (200, True)
        assert (wrong.status, "7일" in wrong.text, "2026-11-01 11:00" in wrong.text) == (400, True, True)

    run_scenario(scenario)


def test_webhook_of_another_account_is_not_found(run_scenario: RunScenario) -> None:
    async def scenario(env: Environment) -> None:
        ours, theirs = await signed_in_browser(env), await signed_in_browser(env, Role.OWNER, "other")
        page, _ = await create(theirs)

        answers = [await ours.get(page)]
        for word in ("state", "rotate", "test", "delete"):
            answers.append(await ours.submit(f"{page}/{word}"))
        answers.append(await ours.submit(f"{page}/replay", since="2026-11-15 11:00"))

        assert {each.status for each in answers} == {404}
        assert (await theirs.get(page)).status == 200

    run_scenario(scenario)
