"""A campaign as one thing: its funnel, its messages, its name, and where it is found again."""

import html
import re

import pytest

from pabal.domain.people.user import Role
from pabal.service.sending.campaigns import progress
from tests.fixtures.audit import latest_entries
from tests.fixtures.console import Browser, PageResponse, signed_in_browser
from tests.fixtures.console_send import form, send, talk
from tests.fixtures.console_upload import create_campaign, follow_campaign, page_text, send_campaign, upload_file
from tests.fixtures.service import count_rows
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import call_ok, sms_body

FOLLOW = "/console/requests"
NUMBERS = "010-1111-2222,가\n010-0000-0001,나\n010-0000-0003,다\n010-0000-0003,라\n010-3333-4444,마\n"


def funnel(shown: PageResponse) -> dict[str, str]:
    """Return the lines of the funnel: label, and count."""
    rows = re.findall(r'<th scope="row">([^<]+)</th>\s*<td[^>]*>(?:<a[^>]*>)?([0-9,]+)', shown.text)
    return dict(rows)


def listed(shown: PageResponse) -> list[str]:
    """Return the names in the list, in its order."""
    return [html.unescape(name) for name in re.findall(r'<a class="open" href="[^"]+">([^<]*)</a>', shown.text)]


async def test_funnel_tells_who_was_finally_reached_and_why_others_were_not(
    env: Environment, alimtalk_key: str, browser: Browser
) -> None:
    fields = talk("alimtalk", alimtalk_key, resend="1", resendPhoneNumber="02-1234-5678")
    address = await upload_file(browser, f"phone,이름\n{NUMBERS}", **{**fields, "once": ""})
    sent = (await send_campaign(browser, address, name="안내")).location
    await env.wait(120)

    page = await browser.get(sent)

    assert funnel(page) == {
        "접수": "5", "바로 전달": "2", "대체 문자로 도달": "2", "최종 도달": "4", "도달하지 못함": "1"
    }  # fmt: skip
    text = page_text(page)
    assert "메신저 사용자가 아님 (3019) 2 0" in text
    assert "결번 (3003) 1 1" in text
    assert "80.0%" in text
    reasons = re.findall(r'href="(/console/history\?request=[0-9a-f]{26}&amp;outcome=3019)"', page.text)
    found = await browser.get(html.unescape(reasons[0]))
    assert found.text.count('data-name="수신번호"') == 2
    progressed = await browser.get(f"{FOLLOW}/progress?ids={sent.rpartition('/')[2]}&one=1&funnel=1")
    assert 'id="funnel" hx-swap-oob="true"' in progressed.text


async def test_resending_is_offered_as_soon_as_the_last_message_has_failed(
    env: Environment, browser: Browser
) -> None:
    sent = await follow_campaign(browser, rows="010-0000-0001,가\n")
    first = await browser.get(f"{FOLLOW}/{sent}")
    await env.wait(20)

    news = await browser.get(f"{FOLLOW}/progress?ids={sent}&one=1&funnel=1", hx_request="true")

    assert "실패한 수신자에게 다시 보내기" not in first.text
    assert 'id="next" hx-swap-oob="true"' in news.text
    assert f'href="/console/send?resend={sent}"' in news.text


@pytest.mark.parametrize(
    ("rows", "fields", "state"),
    [
        ("010-0000-0001,가\n", {}, ("fail", "실패 1 / 1")),
        ("".join(f"010-2000-000{n},n\n" for n in range(9)) + "010-0000-0001,x\n", {}, ("completed", "도달 90.0%")),
        ("010-2000-0001,n\n010-0000-0001,x\n", {}, ("fail", "실패 1 / 2")),
        ("010-2000-0001,n\n", {"later": "1", "sendDate": "2026-11-20T10:00"}, ("scheduled", "11/20 10:00 예약")),
        (
            "010-2000-0001,n\n",
            {"later": "1", "sendDate": "2027-01-05T10:00"},
            ("scheduled", "2027/01/05 10:00 예약"),
        ),
    ],
)
async def test_state_says_the_result_in_a_colour_that_is_true(
    env: Environment, browser: Browser, rows: str, fields: dict[str, str], state: tuple[str, str]
) -> None:
    sent = await follow_campaign(browser, rows=rows, **fields)
    await env.wait(30)

    for path in (FOLLOW, f"{FOLLOW}/{sent}"):
        page = await browser.get(path)
        assert re.findall(r'<span class="state (\w+)">([^<]+)</span>', page.text) == [state], path

    is_scheduled = state[0] == "scheduled"
    assert ("예약 시각 대기" in funnel(page)) is is_scheduled
    assert "진행 중" not in funnel(page)
    assert 'rect class="open"' not in page.text


@pytest.mark.settings(max_receivers=1)
async def test_all_messages_of_a_campaign_are_listed_and_exported_by_its_id(
    env: Environment, browser: Browser
) -> None:
    await follow_campaign(browser, "다른 것", "010-9999-0000,n\n")
    sent = await follow_campaign(browser, rows="010-2000-0001,n\n010-2000-0002,n\n010-2000-0003,n\n")
    await env.wait(20)

    page = await browser.get(f"/console/history?request={sent}")
    one = await browser.get(f"/console/history?request={sent}&receiver=010-2000-0002")
    none = await browser.get(f"/console/history?request={sent}&receiver=010-9999-0000")
    csv = await browser.get(f"/console/history.csv?request={sent}")
    stranger = await signed_in_browser(env, Role.OWNER, "other")

    assert page.text.count('data-name="수신번호"') == 3
    assert "010-9999-0000" not in page_text(page).replace("010-1234-5678", "")
    assert one.text.count('data-name="수신번호"') == 1
    assert none.text.count('data-name="수신번호"') == 0
    assert len(csv.text.splitlines()) == 4
    assert (await stranger.get(f"/console/history?request={sent}")).text.count('data-name="수신번호"') == 0
    assert f'href="/console/history.xlsx?request={sent}"' in (await browser.get(f"{FOLLOW}/{sent}")).text


async def test_list_is_filtered_by_name_kind_state_and_period(env: Environment, browser: Browser) -> None:
    await follow_campaign(browser, "봄 행사")
    await env.wait(1)
    await follow_campaign(browser, "여름 행사", later="1", sendDate="2026-11-20T10:00")
    await env.wait(1)
    await send(browser, form(content="가을 알림"))
    await env.wait(1)
    await send(browser, form("lms", content="겨울 알림", subject="겨울 제목"))
    await env.wait(20)

    async def found(query: str) -> list[str]:
        return listed(await browser.get(f"{FOLLOW}?{query}"))

    assert await found("") == ["겨울 제목", "가을 알림", "여름 행사", "봄 행사"]
    assert await found("words=행사") == ["여름 행사", "봄 행사"]
    assert await found("words=겨울+알림") == ["겨울 제목"]
    assert await found("kind=lms") == ["겨울 제목"]
    assert await found("state=scheduled") == ["여름 행사"]
    assert await found("state=ended&what=campaign") == ["봄 행사"]
    assert await found("state=moving") == []
    assert await found("what=request") == ["겨울 제목", "가을 알림"]
    assert await found("from=2026-11-15&to=2026-11-15&words=봄") == ["봄 행사"]
    assert await found("to=2026-11-14") == []
    bad = await browser.get(f"{FOLLOW}?kind=letter&from=x")
    assert bad.status == 400
    assert bad.text.count('aria-invalid="true"') == 2


async def test_filtered_list_goes_on_where_it_stopped_looking(
    env: Environment, browser: Browser, call: Caller
) -> None:
    for number in range(progress.MAX_COUNTED + 5):
        await call_ok(call, "message/sendSMS", sms_body(content=f"n{number}"))
    await env.wait(20)

    first = await browser.get(f"{FOLLOW}?state=moving")
    older = re.search(r'href="(/console/requests\?[^"]*before=[0-9a-f]+)"', first.text)
    assert older
    last = await browser.get(html.unescape(older[1]))

    assert listed(first) == []
    assert "state=moving" in older[1]
    assert 'rel="next"' not in last.text


async def test_uploads_that_were_not_sent_are_listed_apart_and_discarded(
    env: Environment, browser: Browser
) -> None:
    empty = await create_campaign(browser)
    await env.wait(1)  # the newest comes first
    checked = await upload_file(browser)
    await follow_campaign(browser, "보낸 것")
    await env.wait(10)

    sent, unsent = await browser.get(FOLLOW), await browser.get(f"{FOLLOW}/unsent")
    await browser.submit(f"{empty.replace('send/upload', 'requests')}/cancel")
    after = await browser.get(f"{FOLLOW}/unsent")

    assert listed(sent) == ["보낸 것"]
    assert "보내지 않은 발송 (2)" in page_text(sent)
    assert re.findall(r'class="button small" href="([^"]+)"', unsent.text) == [checked, empty]
    assert re.findall(r'class="button small" href="([^"]+)"', after.text) == [checked]
    assert listed(await browser.get(FOLLOW)) == ["보낸 것"], "one that was discarded was not sent"
    viewer = await signed_in_browser(env, Role.VIEWER)
    assert (await viewer.get(f"{FOLLOW}/unsent")).status == 403
    assert "unsent" not in (await viewer.get(FOLLOW)).text


async def test_campaign_is_renamed_and_the_change_audited(env: Environment, browser: Browser) -> None:
    sent = await follow_campaign(browser)
    await env.wait(20)

    done = await browser.submit(f"{FOLLOW}/{sent}/name", name="  가을   행사 ")
    bad = await browser.submit(f"{FOLLOW}/{sent}/name", name="가" * 81)
    page = await browser.get(f"{FOLLOW}/{sent}")

    assert (done.status, done.location) == (303, f"{FOLLOW}/{sent}")
    assert bad.status == 400
    assert "80자" in page_text(bad)
    assert "가을 행사" in page_text(page)
    assert "owner-of-acme" in page_text(page)
    (entry,) = await env.store.read(latest_entries, None, 1)
    assert (entry.action, entry.target) == ("campaign.rename", sent)
    single = await send(browser, form())
    assert (await browser.submit(f"{FOLLOW}/{single}/name", name="x")).status == 404
    assert await count_rows(env, "campaigns") == 1
