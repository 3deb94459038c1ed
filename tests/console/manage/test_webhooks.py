"""The pages of webhooks: an owner creates, changes, tests, pauses, rotates, replays and deletes one."""

import re
from typing import Any

import pytest

from pabal.console.manage.webhooks import SHOWN_DELIVERIES
from pabal.domain.base.dates import HOUR
from pabal.domain.people.user import Role
from pabal.outbound.calls import NOT_TLS
from pabal.store.engine.base import Tx
from pabal.store.events import webhook_posts, webhooks
from pabal.store.events.webhook_posts import WebhookPost, pack_body
from pabal.webhooks.poster import PostError, PostResult
from tests.fixtures.audit import audited, audited_actions, latest_entries
from tests.fixtures.console import Browser, signed_in_browser
from tests.fixtures.virtual import NOON, Caller, Environment
from tests.fixtures.web import call_ok, sms_body
from tests.fixtures.webhook_calls import poster_of, verify

PATH = "/console/webhooks"
URL = "https://shop.example/pabal"
RESULTS = {"event.message.result": "1"}
STOPPED = "계속 실패하여 이벤트를 보내지 못하고 있습니다"
"""What every page says then."""


def checked(text: str) -> set[str]:
    """Return the names of the boxes of a form that are checked."""
    return set(re.findall(r'<input type="checkbox" name="([^"]+)"[^>]* checked>', text))


async def create(browser: Browser, **fields: str) -> tuple[str, str]:
    """Create a webhook; return its page and its secret."""
    shown = await browser.submit(PATH, **{"url": URL, **RESULTS, **fields})
    assert shown.status == 200, shown.text
    (secret,) = re.findall(r"whsec_[A-Za-z0-9+/=]+", shown.text.replace("&#43;", "+").replace("&#61;", "="))
    (page,) = set(re.findall(rf"{PATH}/[0-9]+", shown.text))
    return page, secret


async def test_owner_creates_a_webhook_and_sees_its_secret_once(
    env: Environment, call: Caller, browser: Browser
) -> None:
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


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"url": "", **RESULTS}, "주소(URL)를 입력하세요."),
        ({"url": URL, "event.nothing": "1"}, "허용되는 값"),
    ],
)
async def test_wrong_form_is_shown_again_with_what_is_wrong(
    browser: Browser, fields: dict[str, str], said: str
) -> None:
    shown = await browser.submit(PATH, **fields, description="내 메모")

    assert shown.status == 400
    assert said in shown.text
    assert "내 메모" in shown.text
    assert "등록된 웹훅이 없습니다" in shown.text


async def test_form_is_gone_when_there_are_ten(browser: Browser) -> None:
    for _ in range(10):
        await create(browser)

    full = await browser.get(PATH)
    refused = await browser.submit(PATH, url=URL, **RESULTS)

    assert "10개까지" in full.text
    assert 'name="url"' not in full.text
    assert refused.status == 409


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (PostResult(200, b"<b>ok</b>", 7), ("성공: HTTP 200 (7 ms)", "&lt;b&gt;ok")),
        (PostResult(500, b"", 8), ("실패: HTTP 500 (8 ms)", "서버 로그를 확인하세요")),
        (PostResult(302, b"", 1234), ("실패: HTTP 302 (1,234 ms)", "최종 주소로 변경하세요")),
        (
            PostResult(None, b"", 9, PostError.TLS, "certificate has expired"),
            ("실패: tls: certificate has expired (9 ms)", "유효 기간, 호스트 이름"),
        ),
        (
            PostResult(None, b"", 9, PostError.TLS, NOT_TLS),
            ("실패: tls: the server does not speak TLS (9 ms)", "HTTPS 포트의 주소로"),
        ),
    ],
)
async def test_test_shows_what_came_back_and_what_to_do(
    env: Environment, browser: Browser, result: PostResult, said: tuple[str, str]
) -> None:
    page, secret = await create(browser)
    poster_of(env).results = [result]

    shown = await browser.submit(f"{page}/test")
    again = await browser.submit(f"{page}/test")

    assert all(shown.text.count(each) >= 1 for each in said)
    assert "<b>" not in shown.text
    assert again.status == 429
    assert len(re.findall("<tr>", shown.text)) == 2
    assert said[1] in (await browser.get(page)).text, "the list of deliveries says the same"
    verify(secret, poster_of(env).received[0])


async def test_state_of_a_webhook_counts_what_failed_since_the_last_success(
    env: Environment, browser: Browser, call: Caller
) -> None:
    page, _ = await create(browser)
    states = [await shown_state(browser, page)]
    for result in (PostResult(500, b"", 8), PostResult(204, b"", 8)):
        poster_of(env).results = [result]
        await call_ok(call, "message/sendSMS", sms_body())
        await env.wait(3)
        states.append(await shown_state(browser, page))

    assert states == [("unused", "아직 보낸 적 없음"), ("fail", "연속 실패 1회"), ("completed", "사용 중")]


async def shown_state(browser: Browser, page: str) -> tuple[str, str]:
    """Return the colour and the words of a webhook's state, which its page and the list have in common."""
    pages = [(await browser.get(path)).text for path in (PATH, page)]
    (state,) = {re.findall(r'<span class="state (\w+)">([^<]+)</span>', text)[0] for text in pages}
    word, shown = state
    return word, shown


async def test_webhook_is_disabled_enabled_and_deleted(env: Environment, call: Caller, browser: Browser) -> None:
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
    assert (gone.status, gone.location) == (303, f"{PATH}?deleted=1")
    assert "삭제했습니다" in (await browser.get(gone.location)).text
    assert (await browser.get(page)).status == 404
    assert await audited_actions(env, 3) == ["webhook.delete", "webhook.update", "webhook.update"]


async def test_secret_is_rotated_and_the_new_one_shown_once(env: Environment, browser: Browser) -> None:
    page, old = await create(browser)

    rotated = await browser.submit(f"{page}/rotate")
    shown = await browser.get(page)
    await browser.submit(f"{page}/test")

    assert "whsec_" in rotated.text
    assert "whsec_" not in shown.text
    assert "2026-11-16 12:00:00" in shown.text
    verify(old, poster_of(env).received[0])


async def test_replay_wants_a_time_of_the_last_seven_days(browser: Browser) -> None:
    page, _ = await create(browser)

    done = await browser.submit(f"{page}/replay", since="2026-11-15 11:00")
    again = await browser.submit(f"{page}/replay", since="2026-11-15 11:00")
    wrong = await browser.submit(f"{page}/replay", since="2026-11-01 11:00")

    assert again.status == 429
    assert (done.status, "곧 다시 보냅니다" in done.text) == (200, True)
    assert (wrong.status, "7일" in wrong.text, "2026-11-01T11:00" in wrong.text) == (400, True, True)


async def test_webhook_is_changed_and_keeps_its_secret(env: Environment, call: Caller, browser: Browser) -> None:
    page, secret = await create(browser, description="옛 메모", **{"product.sms": "1"})
    wanted = {"event.optOut.added": "1", "product.alimTalk": "1", "enabled": "1"}

    form = await browser.get(f"{page}/edit")
    done = await browser.submit(f"{page}/edit", url=f"{URL}/2", description="새 메모", **wanted)
    shown = await browser.get(done.location)
    await browser.submit(f"{page}/test")
    emptied = await browser.submit(f"{page}/edit", url=f"{URL}/2", **RESULTS)

    assert all(each in form.text for each in (f'value="{URL}"', 'value="옛 메모"'))
    assert checked(form.text) == {"event.message.result", "product.sms", "enabled"}
    assert (done.status, done.location) == (303, f"{page}?saved=1")
    assert all(each in shown.text for each in (f"{URL}/2", "새 메모", "수신거부 등록", "알림톡", "저장했습니다"))
    verify(secret, poster_of(env).received[0])
    assert poster_of(env).received[0].url == f"{URL}/2"
    assert emptied.status == 303
    (item,) = (await call_ok(call, "webhook/list")).items
    assert (item["events"], item["products"], item["state"]["value"]) == (["message.result"], [], "disabled")
    assert "description" not in item
    assert await audited(env, 2) == [("webhook.update", page.rpartition("/")[2])] * 2


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"url": "http://shop.example", **RESULTS}, "https://로 시작해야 합니다"),
        ({"url": f"{URL}/2"}, "받을 알림을 고르세요."),
        ({"url": f"{URL}/2", **RESULTS, "product.fax": "1"}, "허용되는 값"),
        ({"url": f"{URL}/2", **RESULTS, "description": "가" * 201}, "200자 이하"),
    ],
)
async def test_wrong_change_keeps_what_was_typed_and_changes_nothing(
    call: Caller, browser: Browser, fields: dict[str, str], said: str
) -> None:
    page, _ = await create(browser)
    (before,) = (await call_ok(call, "webhook/list")).items

    shown = await browser.submit(f"{page}/edit", **{"description": "내 메모", "product.lms": "1"} | fields)

    assert shown.status == 400
    assert said in shown.text
    assert "저장하지 않았습니다" in shown.text
    assert f'value="{fields["url"]}"' in shown.text
    assert f'value="{fields.get("description", "내 메모")}"' in shown.text
    assert checked(shown.text) == {"product.lms", *fields} - {"url", "description", "product.fax"}
    assert (await call_ok(call, "webhook/list")).items == [before]


async def test_owners_are_told_of_a_paused_webhook_and_can_retry_or_disable_it(
    env: Environment, call: Caller, browser: Browser
) -> None:
    page, _ = await create(browser)
    await env.store.write(webhooks.pause, int(page.rpartition("/")[2]), env.world.now() + HOUR)

    shown = await browser.get(page)
    form = await browser.get(f"{page}/edit")
    await browser.submit(f"{page}/edit", url=URL, enabled="1", **RESULTS)

    assert "계속 실패해서 일시 중지했습니다" in shown.text
    assert shown.text.count(f'action="{page}/state"') == 2
    assert "enabled" in checked(form.text)
    assert STOPPED not in (await browser.get("/console")).text
    (item,) = (await call_ok(call, "webhook/list")).items
    assert item["state"]["value"] == "active"


async def test_older_deliveries_are_on_further_pages(env: Environment, browser: Browser) -> None:
    page, _ = await create(browser)
    for number in range(SHOWN_DELIVERIES + 1):
        poster_of(env).results = [PostResult(200, f"answer {number};".encode(), 5)]
        await browser.submit(f"{page}/test")
        await env.wait(2)

    first = await browser.get(page)
    second = await browser.get(f"{page}?page=2")

    assert f'href="{page}?page=2"' in first.text
    assert ("answer 20;" in first.text, "answer 0;" in first.text) == (True, False)
    assert ("answer 20;" in second.text, "answer 0;" in second.text) == (False, True)
    assert f'href="{page}?page=1"' in second.text
    for word in ("0", "-1", "x", "9999", "10" * 9):
        assert (await browser.get(f"{page}?page={word}")).status == 200


async def test_delivery_of_many_events_names_the_first_ten(
    env: Environment, call: Caller, browser: Browser
) -> None:
    page, _ = await create(browser)
    await call_ok(call, "message/sendSMS", sms_body(*(f"010-2000-{number:04}" for number in range(12))))
    await env.wait(60)
    assert "외 2건" in (await browser.get(page)).text


async def test_paused_webhook_is_told_on_every_page_to_those_who_manage_it(env: Environment) -> None:
    owner, of_twin = await signed_in_browser(env), await signed_in_browser(env, Role.OWNER, "twin")
    sender, viewer = [await signed_in_browser(env, role) for role in (Role.SENDER, Role.VIEWER)]
    page, _ = await create(owner)
    await create(of_twin)
    before = await owner.get("/console")
    await env.store.write(webhooks.pause, int(page.rpartition("/")[2]), env.world.now())

    told = [await owner.get(path) for path in ("/console", "/console/history", PATH, page, "/console/nothing")]
    not_told = [await each.get("/console/history") for each in (of_twin, sender, viewer)]
    await owner.submit("/console/language", language="en")
    in_english = await owner.get("/console")
    await owner.submit(f"{page}/state", enabled="true")
    after = await owner.get("/console")

    assert all("웹훅 1개가 " + STOPPED in each.text and f'href="{page}"' in each.text for each in told)
    assert "because they keep failing: 1." in in_english.text
    for each in (before, *not_told):
        assert STOPPED not in each.text
    assert "keep failing" not in after.text


async def test_webhook_that_answered_410_says_so_and_is_enabled_without_what_it_has_missed(
    env: Environment, call: Caller, browser: Browser
) -> None:
    page, _ = await create(browser)
    await env.store.write(disable_with_backlog, int(page.rpartition("/")[2]))

    pages = [await browser.get(path) for path in (PATH, page)]
    await browser.submit(f"{page}/state", enabled="true", skip="1")
    (item,) = (await call_ok(call, "webhook/list")).items

    assert all("사용 안 함(410 응답)" in each.text and "웹훅 1개가 " + STOPPED in each.text for each in pages)
    assert 'name="skip"' in pages[1].text
    assert (item["state"]["value"], item["backlog"], item["dropped"]) == ("active", 0, 1)


def disable_with_backlog(tx: Tx, webhook_id: int) -> None:
    webhooks.record_failure(tx, webhook_id, NOON, is_gone=True)
    webhooks.disable(tx, webhook_id, NOON, is_gone=True)
    post = WebhookPost(bytes(16), webhook_id, [bytes(16)], pack_body(b"{}"), NOON, 1, NOON)
    webhook_posts.add(tx, [post])


async def test_several_paused_webhooks_are_counted_and_lead_to_the_list(
    env: Environment, owner: Browser, operator: Browser
) -> None:
    for _ in range(3):
        await create(owner)
    for webhook_id in (1, 3):
        await env.store.write(webhooks.pause, webhook_id, env.world.now())

    shown = await owner.get("/console/history")
    await operator.submit("/console/accounts", account="1")
    acting = await operator.get("/console/history")
    await operator.submit("/console/accounts", account="")
    of_nobody = await operator.get("/console/accounts")

    for each in (shown, acting):
        assert "웹훅 2개가 " + STOPPED in each.text
        assert len(re.findall(rf'href="{PATH}"', each.text)) == 2, "in the menu and in the notice"
    assert STOPPED not in of_nobody.text
