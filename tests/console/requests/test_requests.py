"""Following what was sent: newest first, live, and what still waits is sent now or cancelled."""

import re

import pytest

from pabal.domain.base.dates import HOUR
from pabal.service.sending.campaigns import progress as follow
from pabal.store.messages import campaign_requests
from tests.fixtures.audit import latest_entries
from tests.fixtures.console import Browser, PageResponse
from tests.fixtures.console_send import form, send
from tests.fixtures.console_upload import follow_campaign, page_text
from tests.fixtures.service import count_rows
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import call_ok, sms_body

FOLLOW = "/console/requests"
LATER = "2026-11-15 13:00"


def ids(shown: PageResponse) -> list[str]:
    """Return what a list shows, in its order."""
    return re.findall(r'<a class="open" href="/console/requests/([0-9a-f]{26})">', shown.text)


def watched(shown: PageResponse) -> list[str]:
    """Return what a page watches."""
    found = re.search(r"progress\?ids=([0-9a-f,]+)", shown.text)
    return found[1].split(",") if found else []


async def campaign(browser: Browser, receivers: int = 3, **fields: str) -> str:
    """Send a campaign to so many receivers and return its id."""
    rows = "".join(f"010-2000-{number:04},n\n" for number in range(receivers))
    return await follow_campaign(browser, rows=rows, **fields)


async def test_changing_a_campaign_request_updates_its_progress_at_once(env: Environment, browser: Browser) -> None:
    for deed, end in (("now", "완료 3"), ("cancel", "취소 3")):
        sent = await campaign(browser, later="1", sendDate="2026-11-20T10:00")
        await env.wait(10)
        (request,) = await env.store.read(campaign_requests.list_requests, bytes.fromhex(sent))

        done = await browser.submit(f"{FOLLOW}/{request.request_id.hex()}/{deed}")
        await env.wait(10)

        assert done.status == 303
        assert end in page_text(await browser.get(f"{FOLLOW}/{sent}")), deed


async def test_campaigns_and_requests_are_listed_once_newest_first(
    env: Environment, call: Caller, browser: Browser
) -> None:
    first = (await call_ok(call, "message/sendSMS", sms_body(content="하나"))).request_id
    await env.wait(1)
    second = await campaign(browser, 1200)
    await env.wait(1)
    third = (await call_ok(call, "message/sendSMS", sms_body(content="셋", sendDate=LATER))).request_id
    await env.wait(30)

    page = await browser.get(FOLLOW)

    assert ids(page) == [third, second, first]
    assert "완료 1,200" in page_text(page)
    assert await count_rows(env, "requests") == 4
    assert watched(page) == [], "nothing moves: two have ended, one waits for its time"


async def test_list_pages_continue_where_the_last_ended(env: Environment, call: Caller, browser: Browser) -> None:
    sent = []
    for number in range(45):
        sent.append((await call_ok(call, "message/sendSMS", sms_body(content=f"n{number}"))).request_id)
        if number in (10, 30):
            sent.append(await campaign(browser))
        await env.wait(0.1)
    await env.wait(10)
    seen: list[str] = []
    path = FOLLOW
    while path:
        page = await browser.get(path)
        seen += ids(page)
        older = re.search(rf'href="({FOLLOW}\?before=[0-9a-f]+)"', page.text)
        path = older[1] if older else ""

    assert seen == sorted(sent, reverse=True)


@pytest.mark.torture
@pytest.mark.settings(max_receivers=1)
async def test_list_skips_many_requests_of_campaigns(env: Environment, call: Caller, browser: Browser) -> None:
    single = (await call_ok(call, "message/sendSMS", sms_body())).request_id
    await env.wait(1)
    big = await campaign(browser, follow.SCAN_BATCH_REQUESTS * follow.MAX_SCANS + 5)
    await env.wait(60)
    page = await browser.get(FOLLOW)
    assert ids(page) == [big]
    older = re.search(rf'href="({FOLLOW}\?before=[0-9a-f]+)"', page.text)
    assert older
    assert ids(await browser.get(older[1])) == [single]


async def test_progress_is_polled_until_the_end(env: Environment, browser: Browser) -> None:
    sent = await campaign(browser)
    page = await browser.get(f"{FOLLOW}/{sent}")
    assert watched(page) == [sent]

    await env.wait(10)
    news = await browser.get(f"{FOLLOW}/progress?ids={sent},zz,{'0' * 26}")

    assert watched(news) == []
    assert 'id="what"' not in news.text
    assert '<div id="what" hx-swap-oob="true">' in (await browser.get(f"{FOLLOW}/progress?ids={sent}&one=1")).text
    assert 'hx-swap-oob="true"' in news.text
    assert "끝났습니다: 봄 행사" in page_text(news)
    assert "완료 3" in page_text(news)


async def test_scheduled_sends_can_be_sent_now_or_cancelled(
    env: Environment, call: Caller, browser: Browser
) -> None:
    for what in ("request", "campaign"):
        for deed, end in (("now", "완료 3"), ("cancel", "취소 3")):
            if what == "campaign":
                sent = await campaign(browser, later="1", sendDate=LATER)
            else:
                body = sms_body(*[f"010-3000-000{n}" for n in range(3)], sendDate=LATER)
                sent = (await call_ok(call, "message/sendSMS", body)).request_id
            await env.wait(6)
            before = await browser.get(f"{FOLLOW}/{sent}")
            assert f'action="/console/requests/{sent}/{deed}"' in before.text, (what, deed)
            assert "11/15 13:00 예약" in before.text

            done = await browser.submit(f"{FOLLOW}/{sent}/{deed}")
            await env.wait(10)

            after = await browser.get(f"{FOLLOW}/{sent}")
            assert done.location.partition("?")[0] == f"{FOLLOW}/{sent}"
            told = await browser.get(done.location)
            offer = f'<a class="button" href="/console/send?copy={sent}">'
            assert (offer in told.text.partition('class="toast"')[2]) == (deed == "cancel")
            assert end in page_text(after), (what, deed)
            assert "/cancel" not in after.text, "nothing waits any more"
            noted = [(each.action, each.target) for each in await env.store.read(latest_entries, None, 1)]
            assert noted == [(f"{what}.{deed}", sent)]
    await env.jump(HOUR / 1000)
    assert await count_rows(env, "messages") == 12


async def test_what_waits_is_cancelled_in_the_list(env: Environment, browser: Browser, viewer: Browser) -> None:
    sent = await campaign(browser, later="1", sendDate=LATER)
    await env.wait(6)
    before = await browser.get(FOLLOW)
    seen_by_viewer = await viewer.get(FOLLOW)
    await browser.submit(f"{FOLLOW}/{sent}/cancel")
    await env.wait(10)
    news = await browser.get(f"{FOLLOW}/progress?ids={sent}")

    assert f'action="/console/requests/{sent}/cancel"' in before.text
    assert "/cancel" not in seen_by_viewer.text + (await viewer.get(f"{FOLLOW}/{sent}")).text
    assert f'<div id="stop-{sent}" hx-swap-oob="true"></div>' in news.text
    assert "/cancel" not in (await browser.get(FOLLOW)).text


async def test_campaign_requests_link_to_campaign_and_messages(env: Environment, browser: Browser) -> None:
    sent = await campaign(browser)
    await env.wait(10)
    page = await browser.get(f"{FOLLOW}/{sent}")
    (part,) = set(re.findall(r'<li><a href="/console/requests/([0-9a-f]+)"', page.text))
    request = await browser.get(f"{FOLLOW}/{part}")

    assert f'href="/console/requests/{sent}"' in request.text
    assert f'href="/console/history?request={part}"' in request.text


@pytest.mark.settings(max_receivers=1)
async def test_new_requests_of_a_campaign_appear_while_one_watches(env: Environment, browser: Browser) -> None:
    sent = await campaign(browser, 5)
    first = await browser.get(f"{FOLLOW}/{sent}")
    await env.wait(30)

    news = await browser.get(f"{FOLLOW}/progress?ids={sent}&one=1&parts=0", hx_request="true")
    again = await browser.get(f"{FOLLOW}/progress?ids={sent}&one=1&parts=5", hx_request="true")
    listed = await browser.get(f"{FOLLOW}/progress?ids={sent}", hx_request="true")

    assert "&amp;one=1&amp;parts=0" in first.text or "&one=1&parts=0" in first.text
    assert news.text.count("번째 (1명)") == 5
    assert 'id="parts" hx-swap-oob="true"' in news.text
    assert 'id="parts"' not in again.text, "nothing is new"
    assert 'id="parts"' not in listed.text, "the list has no room for it"


async def test_page_after_a_send_shows_the_first_receiver_and_follows(env: Environment, browser: Browser) -> None:
    numbers = "010-1111-2222, 하나\n010-3333-4444, 둘\n010-5555-6666, 셋"
    sent = await send(browser, form(content="#{이름}님", receivers=numbers))

    done = await browser.get(f"/console/send/done/{sent}")
    await env.wait(10)
    later = await browser.get(f"/console/send/done/{sent}")

    assert "하나님" in done.text
    assert "010-1111-2222 외 2명" in page_text(done)
    assert "셋님" not in done.text
    assert watched(done) == [sent]
    assert "완료 3" in page_text(later)
    assert watched(later) == []
