"""The page of opt-outs: searched, added, removed, imported as a whole and exported."""

import pytest

from tests.fixtures.audit import audited_actions
from tests.fixtures.console import Browser
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import PHONE, SENDER, call_ok

PATH = "/console/opt-outs"
OTHER = "010-8765-4321"


async def listed(browser: Browser, query: str = "") -> list[bool]:
    """Say which of both numbers the page lists."""
    page = (await browser.get(f"{PATH}{query}")).text
    return [f'class="number lead">{number}</td>' in page for number in (PHONE, OTHER)]


async def test_opt_outs_are_added_searched_and_removed(env: Environment, call: Caller, browser: Browser) -> None:
    await call_ok(call, "optOut/add", {"phoneNumber": OTHER, "reason": "<b>전화</b>"})

    added = await browser.submit(PATH, phoneNumber="01012345678", senderNumber=SENDER, reason="창구")
    page = await browser.get(PATH)
    found = [await listed(browser), await listed(browser, f"?number={OTHER}")]
    (one, _) = (await call("optOut/list")).items
    removed = await browser.submit(f"{PATH}/remove", id=one["id"])

    assert (added.status, removed.status) == (303, 303)
    assert found == [[True, True], [False, True]]
    assert (one["source"]["value"], one["senderNumber"]) == ("console", SENDER)
    assert "&lt;b&gt;전화" in page.text
    assert await listed(browser) == [False, True]
    assert await audited_actions(env, 2) == ["opt_out.remove", "opt_out.add"]


async def test_page_says_what_was_done_and_what_is_not_in_the_list(browser: Browser) -> None:
    empty = await browser.get(PATH)
    added = await browser.get((await browser.submit(PATH, phoneNumber=PHONE)).location)
    known = await browser.get((await browser.submit(PATH, phoneNumber=PHONE)).location)
    undone = await browser.undo(added)
    missed = await browser.get(f"{PATH}?number={OTHER}")
    removed = await browser.get((await browser.submit(f"{PATH}/remove", id="1")).location)
    forged = await browser.get(f"{PATH}?done=nonsense")

    assert "수신거부한 번호가 없습니다" in empty.text
    assert "수신거부를 추가했습니다" in added.text
    assert "이미 등록된 수신거부입니다" in known.text
    assert "이 번호는 수신거부 목록에 없습니다" in missed.text
    assert "수신거부를 삭제했습니다" in removed.text
    assert undone.location == f"{PATH}?done=removed"
    assert await listed(browser) == [False, False]
    assert 'role="status"' not in forged.text


async def test_removal_is_offered_with_a_question_and_only_to_owners(owner: Browser, sender: Browser) -> None:
    await owner.submit(PATH, phoneNumber=PHONE)

    asked, offered = await owner.get(PATH), await sender.get(PATH)

    assert "다시 받겠다고 동의했을 때만 삭제하세요" in asked.text
    assert f"{PHONE} 수신거부 삭제" in asked.text
    assert f'action="{PATH}/remove"' not in offered.text
    assert "작업" not in offered.text


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "입력하세요"),
        ({"phoneNumber": "02-1234-5678"}, "국내 휴대폰 번호가 아닙니다"),
        ({"phoneNumber": PHONE, "senderNumber": "1"}, "발신번호로 쓸 수 없는"),
        ({"phoneNumber": PHONE, "reason": "가" * 201}, "200자"),
    ],
)
async def test_wrong_entry_is_shown_with_its_error(sender: Browser, fields: dict[str, str], text: str) -> None:
    refused = await sender.submit(PATH, **fields)

    assert refused.status == 400
    assert text in refused.text
    assert await listed(sender) == [False, False]


async def test_file_is_imported_as_a_whole_and_exported_again(call: Caller, sender: Browser) -> None:
    bad = f"휴대폰번호,사유\n{PHONE},a\n123,b\n,c\n".encode("cp949")
    good = f"phone,memo,Sender Number,reason\n1012345678,x,,=1+1\n{OTHER},y,{SENDER},\n{OTHER},y,{SENDER},\n"

    refused = await sender.upload(f"{PATH}/import", bad)
    nothing = (await call("optOut/list")).body["totalCount"]
    imported = await sender.upload(f"{PATH}/import", good.encode())
    page = await sender.get(imported.location)
    exported = await sender.get(f"{PATH}.csv")
    again = await sender.upload(f"{PATH}/import", exported.text.encode())

    assert refused.status == 400
    assert "3행:" in refused.text
    assert "4행:" in refused.text
    assert nothing == 0
    assert "3개 번호 가운데 2개를" in page.text
    lines = exported.text.removeprefix("\ufeff").splitlines()
    assert lines[0].startswith("휴대폰번호,발신번호,사유,")
    assert {line.partition(",콘솔,2026-11-15")[0] for line in lines[1:]} == {
        f"{PHONE},,'=1+1",
        f"{OTHER},{SENDER},",
    }
    assert "rows=2" in again.location
    assert "added=0" in again.location


@pytest.mark.parametrize("file", [b"", b"phone\n", b"a,b\n1,2\n", b"\xd0\xcf\x11\xe0", b"\xff\xfe\x00"])
async def test_unreadable_file_is_refused(browser: Browser, file: bytes) -> None:
    refused = await browser.upload(f"{PATH}/import", file)

    assert refused.status == 400
    assert 'role="alert"' in refused.text
