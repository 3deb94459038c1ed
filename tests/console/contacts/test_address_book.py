"""The address book: contacts of one account are added, searched, changed, grouped and deleted."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from pabal.console.contacts.address_book import SHOWN_GROUPS
from pabal.store.people import contact_groups
from tests.fixtures.audit import audited_actions
from tests.fixtures.console import Browser, PageResponse
from tests.fixtures.console_upload import page_text
from tests.fixtures.service import account_id_of, count_rows
from tests.fixtures.virtual import Caller, Environment
from tests.fixtures.web import call_ok

CONTACTS = "/console/contacts"


async def add(browser: Browser, number: str, name: str = "", **fields: str) -> PageResponse:
    return await browser.submit(CONTACTS, phoneNumber=number, name=name, **fields)


def listed(shown: PageResponse) -> list[str]:
    """Return the names in the list."""
    return re.findall(r'<a href="/console/contacts/person/[0-9]+">([^<]*)</a>', shown.text)


def ids(shown: PageResponse) -> list[str]:
    return re.findall(r'<a href="/console/contacts/person/([0-9]+)">', shown.text)


async def make_group(browser: Browser, name: str) -> str:
    """Create a group and return its id."""
    assert (await browser.submit(f"{CONTACTS}/groups", name=name)).status == 303
    shown = await browser.get(f"{CONTACTS}/groups")
    found = re.search(rf'<a href="/console/contacts\?group=([0-9]+)">{name}</a>', shown.text)
    assert found, shown.text
    return found[1]


async def test_contact_is_added_found_changed_and_deleted(env: Environment, sender: Browser) -> None:
    await sender.submit(f"{CONTACTS}/groups/fields", fields="등급\n지점")
    added = await add(sender, "010-1111-2222", "홍길동", field0="금", field1="서울")
    await add(sender, "010-3333-4444", "김철수")
    await add(sender, "010-5555-6666")

    everybody = await sender.get(CONTACTS)
    by_name, by_tail = await sender.get(f"{CONTACTS}?q=홍길"), await sender.get(f"{CONTACTS}?q=4444")
    nobody = await sender.get(f"{CONTACTS}?q=없는사람")
    (one,) = ids(by_name)
    form = await sender.get(f"{CONTACTS}/person/{one}")
    changed = await sender.submit(
        f"{CONTACTS}/person/{one}", phoneNumber="010-1111-9999", name="홍길순", field1="부산"
    )
    after = await sender.get(f"{CONTACTS}?q=9999")
    await sender.submit(f"{CONTACTS}/person/{one}/delete")

    assert (added.status, changed.status) == (303, 303)
    assert listed(everybody) == ["이름 없음", "김철수", "홍길동"]
    assert (listed(by_name), listed(by_tail), listed(nobody)) == (["홍길동"], ["김철수"], [])
    assert 'value="서울"' in form.text
    assert "홍길순 010-1111-9999 부산" in page_text(after)
    assert await count_rows(env, "contacts") == 2
    assert await audited_actions(env, 5) == [
        "contact.delete",
        "contact.update",
        "contact.add",
        "contact.add",
        "contact.add",
    ]


@pytest.mark.parametrize(
    ("number", "name", "problem"),
    [
        ("", "이름", "phoneNumber"),
        ("119", "이름", "phoneNumber"),
        ("010-1111-2222", "이름", "phoneNumber"),
        ("010-9999-8888", "가" * 61, "name"),
    ],
)
async def test_bad_or_known_contact_is_refused(
    env: Environment, browser: Browser, number: str, name: str, problem: str
) -> None:
    await add(browser, "010-1111-2222", "있는 사람")

    refused = await add(browser, number, name)

    assert refused.status >= 400
    assert f'id="wrong-{problem}"' in refused.text
    assert await count_rows(env, "contacts") == 1


async def test_groups_are_filled_shown_emptied_and_deleted(env: Environment, browser: Browser) -> None:
    group = await make_group(browser, "단골")
    again = await browser.submit(f"{CONTACTS}/groups", name="단골")
    for number in range(4):
        await add(browser, f"010-1111-000{number}", f"사람{number}", **({f"g{group}": "1"} if number else {}))
    everybody = ids(await browser.get(CONTACTS))

    put = await browser.submit(f"{CONTACTS}/selected", action="add", to_group=group, **{f"c{everybody[0]}": "1"})
    full = await browser.get(f"{CONTACTS}?group={group}")
    await browser.submit(f"{CONTACTS}/selected", action="remove", group=group, **{f"c{everybody[1]}": "1"})
    fewer = await browser.get(f"{CONTACTS}?group={group}")
    unchosen = await browser.submit(f"{CONTACTS}/selected", action="delete")
    await browser.submit(f"{CONTACTS}/groups/{group}", name="손님")
    renamed = await browser.get(f"{CONTACTS}/groups")
    await browser.submit(f"{CONTACTS}/groups/{group}/delete", **{"with": "contacts"})

    assert (again.status, put.status, unchosen.status) == (409, 303, 400)
    assert len(listed(full)) == 4
    assert len(listed(fewer)) == 3
    assert "손님" in renamed.text
    assert await count_rows(env, "contacts") == 1
    assert await count_rows(env, "contact_members") == 0
    assert await count_rows(env, "contact_groups") == 0


async def test_deleted_contacts_come_back_with_fields_and_groups(env: Environment, sender: Browser) -> None:
    await sender.submit(f"{CONTACTS}/groups/fields", fields="등급")
    group = await make_group(sender, "단골")
    await add(sender, "010-1111-2222", "홍길동", field0="금", **{f"g{group}": "1"})
    await add(sender, "010-3333-4444", "김철수")
    await sender.submit(f"{CONTACTS}/groups/fields", fields="지점")
    both = {f"c{each}": "1" for each in ids(await sender.get(CONTACTS))}

    deleted = await sender.submit(f"{CONTACTS}/selected", action="delete", q="1", **both)
    gone = await count_rows(env, "contacts")
    back = await sender.undo(deleted)
    await sender.submit(f"{CONTACTS}/groups/fields", fields="등급")
    in_group = await sender.get(f"{CONTACTS}?group={group}")
    one = await sender.submit(f"{CONTACTS}/person/{ids(in_group)[0]}/delete")
    nothing = await sender.submit(f"{CONTACTS}/person/{ids(in_group)[0]}/delete")
    await sender.undo(one)
    forged = await sender.submit(f"{CONTACTS}/restore", deleted="[1]")

    assert (deleted.headers["content-location"], back.location) == (f"{CONTACTS}?q=1", f"{CONTACTS}?q=1")
    assert gone == 0
    assert listed(in_group) == ["홍길동"]
    assert "금" in page_text(in_group)
    assert one.headers["content-location"] == nothing.location == CONTACTS
    assert listed(await sender.get(f"{CONTACTS}?group={group}")) == ["홍길동"]
    assert forged.status == 400
    assert await count_rows(env, "contacts") == 2


async def test_contacts_that_were_taken_out_of_a_group_are_put_back(browser: Browser) -> None:
    group = await make_group(browser, "단골")
    for number in range(3):
        await add(browser, f"010-1111-000{number}", f"사람{number}", **({f"g{group}": "1"} if number else {}))
    everybody = {f"c{each}": "1" for each in ids(await browser.get(CONTACTS))}

    taken = await browser.submit(f"{CONTACTS}/selected", action="remove", group=group, **everybody)
    back = await browser.undo(taken)

    assert listed(taken) == []
    assert "2명을 그룹에서" in page_text(taken)
    assert back.location == f"{CONTACTS}?group={group}"
    assert listed(await browser.get(back.location)) == ["사람1", "사람2"]


async def test_list_is_paged(browser: Browser) -> None:
    rows = "".join(f"010-2000-{number:04},사람{number:03}\n" for number in range(120))
    await browser.submit_with_file(
        f"{CONTACTS}/file", ("a.csv", "text/csv", f"phone,name\n{rows}".encode()), {}, field="file"
    )
    seen: list[str] = []
    path = CONTACTS
    while path:
        page = await browser.get(path)
        seen += listed(page)
        more = re.search(r'href="(/console/contacts\?after=[^"]+)" rel="next"', page.text)
        path = more[1] if more else ""

    assert seen == [f"사람{number:03}" for number in range(120)]


async def test_opted_out_contacts_are_marked(call: Caller, browser: Browser) -> None:
    await add(browser, "010-1111-2222", "거부한 사람")
    await add(browser, "010-3333-4444", "받는 사람")
    await call_ok(call, "optOut/add", {"phoneNumber": "010-1111-2222"})

    page = page_text(await browser.get(CONTACTS))

    assert "거부한 사람 수신거부" in page
    assert "받는 사람 수신거부" not in page


@pytest.mark.settings(max_contacts=2)
async def test_full_address_book_refuses_more(env: Environment, browser: Browser) -> None:
    for number in range(2):
        await add(browser, f"010-1111-000{number}")

    refused = await add(browser, "010-1111-0009")

    assert refused.status == 403
    assert "연락처를 2개까지" in refused.text
    assert await count_rows(env, "contacts") == 2


async def test_contact_is_exported_and_erased_by_number(browser: Browser) -> None:
    group = await make_group(browser, "단골")
    await add(browser, "010-1111-2222", "홍길동", **{f"g{group}": "1"})
    await add(browser, "010-3333-4444", "다른 사람", **{f"g{group}": "1"})

    exported = await browser.submit("/console/privacy/export", number="010-1111-2222")
    await browser.submit("/console/privacy/erase", number="010-1111-2222")

    assert '"name":"홍길동"' in exported.text
    assert listed(await browser.get(f"{CONTACTS}?group={group}")) == ["다른 사람"]
    assert "단골 (1)" in (await browser.get(CONTACTS)).text


async def test_refused_contact_shows_its_error_and_keeps_its_groups(browser: Browser) -> None:
    await browser.submit(f"{CONTACTS}/groups/fields", fields="등급")
    group = await make_group(browser, "단골")

    refused = await add(browser, "010-1111-2222", "이름", field0="가" * 201, **{f"g{group}": "1"})

    assert 'id="wrong-field0"' in refused.text
    assert '<details class="part space" open>' in refused.text
    assert f'name="g{group}" value="1" checked' in refused.text


async def test_choice_of_contacts_survives_a_refusal_with_search_and_page(browser: Browser) -> None:
    group = await make_group(browser, "단골")
    for number in range(3):
        await add(browser, f"010-1111-000{number}", f"사람{number}")
    await add(browser, "010-2222-0000", "남")
    one = ids(await browser.get(f"{CONTACTS}?q=사람"))[0]

    refused = await browser.submit(f"{CONTACTS}/selected", action="add", q="사람", **{f"c{one}": "1"})
    done = await browser.submit(f"{CONTACTS}/selected", action="add", q="사람", to_group=group, **{f"c{one}": "1"})

    assert (refused.status, len(listed(refused))) == (400, 3)
    assert f'name="c{one}" value="1" checked' in refused.text
    assert parse_qs(urlsplit(done.headers["location"]).query) == {"q": ["사람"]}


async def test_contact_stays_in_groups_beyond_those_that_are_shown(env: Environment, browser: Browser) -> None:
    account_id = await account_id_of(env)
    for number in range(SHOWN_GROUPS):
        await env.store.write(contact_groups.add, account_id, f"{number:03}", 0)
    last = await make_group(browser, "끝")
    await add(browser, "010-1111-2222", "이름", **{f"g{last}": "1"})
    (one,) = ids(await browser.get(CONTACTS))

    form = await browser.get(f"{CONTACTS}/person/{one}")

    assert f'name="g{last}" value="1" checked' in form.text
