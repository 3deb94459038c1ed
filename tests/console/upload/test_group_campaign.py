"""Sends to groups of the address book: everybody once, with their own values, except who has opted out."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from pabal.domain.sends.campaign import CampaignState
from pabal.service.upkeep import privacy
from pabal.store.campaigns import drafts
from tests.console.contacts.test_address_book import CONTACTS, add, make_group
from tests.fixtures.console import Browser, PageResponse, signed_in_browser
from tests.fixtures.console_send import errors, form, preview, preview_text
from tests.fixtures.console_upload import UPLOAD, get_campaign, page_text, send_campaign, upload_file
from tests.fixtures.forwarding_store import ForwardingStore
from tests.fixtures.service import account_id_of, count_rows
from tests.fixtures.virtual import (
    Caller,
    Environment,
    VirtualWorld,
    build_environment,
    open_store,
    run_in_virtual_time,
)
from tests.fixtures.web import LINK, approve_template, call_ok, list_phone_messages, register_channel, sms_body

CHECK = "/console/send/check"


async def two_groups(browser: Browser) -> tuple[str, str]:
    """Make two groups with one contact in common, and return their ids."""
    await browser.submit(f"{CONTACTS}/groups/fields", fields="등급")
    first, second = await make_group(browser, "단골"), await make_group(browser, "신규")
    await add(browser, "010-1111-2222", "홍길동", field0="금", **{f"g{first}": "1"})
    await add(browser, "010-3333-4444", "김철수", field0="은", **{f"g{first}": "1", f"g{second}": "1"})
    await add(browser, "010-5555-6666", "이영희", **{f"g{second}": "1"})
    await add(browser, "010-7777-8888", "남")
    return first, second


async def begin(env: Environment, browser: Browser, *groups: str, **fields: str) -> PageResponse:
    """Submit a message to groups, and wait until their contacts are validated."""
    given = {**form(receivers="", **fields), **{f"g{each}": "1" for each in groups}}
    begun = await browser.submit(CHECK, **given)
    await env.wait(2)
    return begun


async def test_everybody_in_the_groups_gets_the_message_once(
    env: Environment, call: Caller, browser: Browser
) -> None:
    first, second = await two_groups(browser)

    begun = await begin(env, browser, first, second, content="#{이름}님")
    shown = page_text(await browser.get(begun.location))
    await send_campaign(browser, begun.location, name="모두")
    await env.wait(10)

    assert begun.location.startswith(UPLOAD)
    assert "단골, 신규" in shown
    assert "3명에게 발송" in shown
    assert await count_rows(env, "messages") == 3
    assert [one["content"] for one in await list_phone_messages(call, "010-3333-4444")] == ["김철수님"]
    assert await list_phone_messages(call, "010-7777-8888") == []
    assert await count_rows(env, "drafts") == 0


async def test_typed_receivers_get_the_message_of_a_group_too_and_once(env: Environment, browser: Browser) -> None:
    first, _ = await two_groups(browser)
    typed = "수신번호,이름\n010-3333-4444,철수\n010-9999-0000,새 사람\n12345,누구"

    begun = await browser.submit(CHECK, **{**form(receivers=typed, content="#{이름}님"), f"g{first}": "1"})
    await env.wait(2)

    campaign = await get_campaign(env, begun.location)
    assert (campaign.receivers, campaign.invalid_rows, campaign.duplicates) == (3, 2, 1)
    assert campaign.file_name == "단골, 직접 입력"


async def test_changed_campaign_keeps_receivers_and_references_and_cancels_the_old_one(
    env: Environment, call: Caller, browser: Browser
) -> None:
    stranger = await signed_in_browser(env, account="other")
    rows = "phone,이름,reference\n010-1111-2222,하나,r1\n010-3333-4444,둘,r2\n"
    old = await upload_file(browser, rows)
    await send_campaign(browser, old, name="봄", later="1", sendDate="2026-11-15T12:10")
    await env.wait(10)
    fields = form(content="#{이름}님, 새말", receivers="", edits=old.rpartition("/")[2])

    foreign = await stranger.submit(CHECK, **fields)
    begun = await browser.submit(CHECK, **fields)
    await env.wait(2)
    await send_campaign(browser, begun.location, name="봄")
    await env.wait(10)

    assert set(errors(foreign)) == {"receivers"}
    assert (await get_campaign(env, old)).state is CampaignState.CANCELLED
    messages = await list_phone_messages(call, "010-3333-4444")
    assert [one["content"] for one in messages] == ["둘님, 새말"]
    kept = await env.store.read(lambda tx: tx.fetch_all("select reference from messages order by id"))
    assert [reference for (reference,) in kept] == ["r1", "r2", "r1", "r2"]


async def test_contact_without_a_needed_value_is_left_out_with_the_reason(
    env: Environment, browser: Browser
) -> None:
    first, second = await two_groups(browser)

    begun = await begin(env, browser, first, second, content="#{이름}님은 #{등급} 등급")
    campaign = await get_campaign(env, begun.location)
    shown = page_text(await browser.get(begun.location))

    assert (campaign.state, campaign.receivers, campaign.invalid_rows) == (CampaignState.CHECKED, 2, 1)
    assert "01055556666 이영희 비어 있음" in shown


async def test_advertisement_leaves_out_who_has_opted_out(env: Environment, call: Caller, browser: Browser) -> None:
    first, second = await two_groups(browser)
    await call_ok(call, "optOut/add", {"phoneNumber": "010-1111-2222"})
    ad = {"adFlag": "1", "adSender": "봄", "optOutNumber": "080-123-4567"}

    as_ad = await begin(env, browser, first, second, content="세일", **ad)
    as_note = await begin(env, browser, first, second, content="공지")

    ads, notes = await get_campaign(env, as_ad.location), await get_campaign(env, as_note.location)
    assert (ads.receivers, ads.invalid_rows) == (2, 1)
    assert (notes.receivers, notes.invalid_rows) == (3, 0)
    assert "광고를 수신거부한 번호입니다." in (await browser.get(as_ad.location)).text


async def test_send_to_a_foreign_group_or_with_an_unknown_variable_is_refused(
    env: Environment, browser: Browser
) -> None:
    first, _ = await two_groups(browser)
    stranger = await signed_in_browser(env, account="other")

    unknown = await begin(env, browser, first, content="#{주소}로 보냅니다")
    foreign = await begin(env, stranger, first, content="공지")

    assert "주소록에 없는 항목입니다: 주소" in errors(unknown)["receivers"]
    assert set(errors(foreign)) == {"receivers"}
    assert await count_rows(env, "campaigns") == 0


async def test_large_group_becomes_requests_of_a_thousand(env: Environment, browser: Browser) -> None:
    group = await make_group(browser, "많음")
    rows = "".join(f"010-2000-{number:04},n{number}\n" for number in range(2500))
    await browser.submit_with_file(
        f"{CONTACTS}/file",
        ("a.csv", "text/csv", f"phone,name\n{rows}".encode()),
        {"group": group},
        field="file",
    )

    begun = await begin(env, browser, group, content="공지")
    await send_campaign(browser, begun.location, name="많음")
    await env.wait(60)

    assert await count_rows(env, "messages") == 2500
    assert await count_rows(env, "requests") == 3


class InterruptedErasure(ForwardingStore):
    """A store that runs `interference` once, when an erasure has looked through the campaigns that were there."""

    interference: Callable[[], Awaitable[object]] | None = None

    async def read(self, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        if work is drafts.list_by_account and self.interference:
            interference, self.interference = self.interference, None
            await interference()
        return await super().read(work, *args, **kwargs)


@pytest.mark.parametrize("way", ["groups", "resend"])
def test_campaign_that_begins_during_an_erasure_is_without_the_number(tmp_path: Path, way: str) -> None:
    number, other = "010-0000-0001", "010-0000-0002"

    async def scenario() -> None:
        world = VirtualWorld()
        store = InterruptedErasure(open_store(tmp_path, world))
        env = await build_environment(tmp_path, world=world, store=store)
        browser = await signed_in_browser(env)
        group = await make_group(browser, "단골")
        sent = (await call_ok(await env.caller(), "message/sendSMS", sms_body(number, other))).request_id
        await add(browser, number, **{f"g{group}": "1"})
        await add(browser, other, **{f"g{group}": "1"})
        await env.wait(60)
        addresses: list[str] = []

        async def begin_campaign() -> None:
            chosen = {f"g{group}": "1"} if way == "groups" else {"resends": sent}
            addresses.append((await browser.submit(CHECK, **form(receivers="", **chosen))).location)
            await env.wait(2)

        store.interference = begin_campaign
        await privacy.erase(env.context, await account_id_of(env), number.replace("-", ""))

        assert (await get_campaign(env, addresses[0])).receivers == 1
        blocks = await env.store.read(lambda tx: tx.fetch_all("select body from campaign_blocks"))
        assert [number.replace("-", "") in body for (body,) in blocks] == [False]
        await env.service.stop()

    run_in_virtual_time(scenario())


async def test_send_page_shows_a_group_as_its_first_contact_gets_it(browser: Browser) -> None:
    first, _ = await two_groups(browser)
    fields = form(content="#{이름}님, #{등급} 회원", receivers="")

    nobody = await preview(browser, fields)
    group = await preview(browser, {**fields, f"g{first}": "1"})

    assert preview_text(nobody) == "#{이름}님, #{등급} 회원"
    assert "수신자를 입력하면" in nobody.text
    assert "수신자를 정하면" in nobody.text
    assert preview_text(group) == "홍길동님, 금 회원"
    both = await preview(browser, {**fields, "receivers": "010-9999-1111, 김, 금\n12", f"g{first}": "1"})
    assert "3명" in both.text.partition('id="sum"')[2], "one is valid, and two are in the group"
    assert "수신자를 입력하면" not in group.text
    assert "수신자를 정하면" not in group.text


async def test_changed_campaign_says_in_the_bar_whom_it_keeps(env: Environment, browser: Browser) -> None:
    first, _ = await two_groups(browser)
    begun = await begin(env, browser, first, content="#{이름}님")

    shown = page_text(await browser.get(f"/console/send?edit={begun.location.rpartition('/')[2]}"))

    assert "기존 수신자 2명 · 즉시 발송" in shown


async def test_campaign_is_drawn_as_other_phones_draw_it(env: Environment, call: Caller, browser: Browser) -> None:
    first, _ = await two_groups(browser)
    sender_key = await register_channel(call)
    items = {"items": [{"title": "상품", "description": "#{등급}"}, {"title": "배송", "description": "내일"}]}
    parts = {"emphasisType": "itemList", "header": "주문 영수증", "itemList": items}
    await approve_template(call, sender_key, content="#{이름}님", quickReplies=[{"name": "조회", **LINK}], **parts)

    begun = await begin(env, browser, first, kind="alimtalk", senderKey=sender_key, templateCode="T1")
    phone = (await browser.get(begun.location)).text.split('id="first-message"')[1].split("</aside>")[0]

    assert all(each in phone for each in ("알림톡 도착", "주문 영수증", "<dd>금</dd>", "홍길동님", "조회"))
