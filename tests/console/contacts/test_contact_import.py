"""Files of contacts: columns are mapped, numbers stay unique, and what is exported can be imported again."""

import io

import pytest
from openpyxl import Workbook

from pabal.service.access.contacts.contacts import SAVE_BATCH
from tests.console.contacts.test_address_book import CONTACTS, listed, make_group
from tests.fixtures.console import Browser, PageResponse
from tests.fixtures.console_upload import page_text
from tests.fixtures.service import count_rows
from tests.fixtures.virtual import Environment

FILE = """연락처,성명,등급,메모
010-1111-2222,홍길동,금,a
1033334444,김철수,은,
010-1111-2222,다시,금,c
12345,누구,금,d
"""


async def upload(browser: Browser, file: str | bytes, path: str = "file", **fields: str) -> PageResponse:
    body = file.encode() if isinstance(file, str) else file
    return await browser.submit_with_file(
        f"{CONTACTS}/{path}", ("list.csv", "text/csv", body), fields, field="file"
    )


async def test_columns_are_guessed_and_rows_that_are_no_contacts_shown(browser: Browser) -> None:
    columns = await upload(browser, FILE, "file/columns")
    done = await upload(browser, FILE, new_group="행사")

    assert '<option value="phone" selected>' in columns.text
    assert '<option value="field:등급" selected>' in columns.text
    text = page_text(done)
    assert "새로 추가 2" in text
    assert "파일 안에서 중복 1" in text
    assert "가져올 수 없는 행 1" in text
    assert "국내 휴대폰 번호가 아닙니다" in text
    page = page_text(await browser.get(f"{CONTACTS}?q=홍"))
    assert "홍길동 010-1111-2222 금 a 행사" in page


async def test_chosen_mapping_wins(browser: Browser) -> None:
    roles = {"column0": "phone", "column1": "field:별명", "column2": "", "column3": "name"}

    await upload(browser, FILE, **roles)
    no_phone = await upload(browser, FILE, column0="name")
    twice = await upload(browser, FILE, column0="phone", column1="name", column2="name")

    assert listed(await browser.get(f"{CONTACTS}?q=2222")) == ["a"]
    assert "홍길동" in (await browser.get(CONTACTS)).text
    assert "금" not in page_text(await browser.get(CONTACTS))
    assert (no_phone.status, twice.status) == (400, 400)


async def test_file_without_names_of_columns_is_understood(browser: Browser) -> None:
    book = Workbook()
    for row in (("홍길동", "010-1111-2222"), ("김철수", "010-3333-4444")):
        book.active.append(row)
    saved = io.BytesIO()
    book.save(saved)

    columns = await upload(browser, saved.getvalue(), "file/columns")
    await upload(browser, saved.getvalue(), column0="name", column1="phone")

    assert "1번째 열" in columns.text
    assert listed(await browser.get(CONTACTS)) == ["김철수", "홍길동"]


async def test_known_numbers_are_updated_or_kept(env: Environment, browser: Browser) -> None:
    await upload(browser, FILE)
    newer = FILE.replace("홍길동", "홍길순")

    kept = page_text(await upload(browser, newer, known="keep"))
    before = listed(await browser.get(f"{CONTACTS}?q=2222"))
    updated = page_text(await upload(browser, newer, known="update"))
    after = listed(await browser.get(f"{CONTACTS}?q=2222"))

    assert ("새로 추가 0 갱신 0" in kept, "갱신 1" in updated) == (True, True)
    assert (before, after) == (["홍길동"], ["홍길순"])
    assert await count_rows(env, "contacts") == 2


@pytest.mark.parametrize("file", ["", "이름\n홍길동\n", "\x00\x01", b"PK\x03\x04broken", b"\xd0\xcf\x11\xe0old"])
async def test_file_that_cannot_be_used_changes_nothing(
    env: Environment, browser: Browser, file: str | bytes
) -> None:
    refused = await upload(browser, file)
    columns = await upload(browser, file, "file/columns")

    assert refused.status == 400
    assert "파일을 가져오지 않았습니다" in refused.text
    assert columns.status == 200
    assert await count_rows(env, "contacts") == 0


async def test_export_can_be_imported_again(browser: Browser) -> None:
    group = await make_group(browser, "일부")
    await upload(browser, FILE, group=group)
    await upload(browser, "phone,name\n010-9999-0000,=1+1\n")

    whole, some = await browser.get(f"{CONTACTS}.csv"), await browser.get(f"{CONTACTS}.csv?group={group}")
    again = await upload(browser, whole.body)

    lines = whole.text.lstrip("\ufeff").splitlines()
    assert lines[0] == "휴대폰번호,이름,등급,메모"
    assert lines[1] == "010-1111-2222,홍길동,금,a"
    assert "'=1+1" in lines[3], "spreadsheets must not take it for a formula"
    assert len(some.text.splitlines()) == 3
    assert "이미 있어 그대로 둠 3" in page_text(again)


@pytest.mark.settings(max_contacts=SAVE_BATCH + 5)
async def test_full_address_book_shows_what_was_imported_before(env: Environment, browser: Browser) -> None:
    rows = "".join(f"010-2000-{number:04},사람{number}\n" for number in range(SAVE_BATCH + 10))

    done = await upload(browser, f"phone,name\n{rows}", known="keep", new_group="행사")

    assert done.status == 403
    text = page_text(done)
    assert "일부만 가져왔습니다" in text
    saved = await count_rows(env, "contacts")
    assert 0 < saved <= SAVE_BATCH
    assert f"새로 추가 {saved} " in text
    assert 'value="keep" checked' in done.text
    assert 'name="new_group" value="행사"' in done.text


async def test_exported_field_that_looks_like_a_formula_is_imported_as_it_was(browser: Browser) -> None:
    await upload(browser, "phone,name,채널\n010-1111-2222,'홍,@pabal\n")

    exported = await browser.get(f"{CONTACTS}.csv")
    again = await upload(browser, exported.text, known="update")

    assert "'@pabal" in exported.text
    assert "이미 있어 그대로 둠 1" in page_text(again)
