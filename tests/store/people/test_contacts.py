"""Contacts in the store: one for each number, searched by index, counted with every change."""

import pytest

from pabal.domain.people.contact import ContactEntry, ContactSearch, parse_search
from pabal.store.accounts import accounts
from pabal.store.engine.base import Tx
from pabal.store.people import contact_groups, contacts
from pabal.store.people.contacts import Place
from tests.fixtures.rows import ExplainingTx, present
from tests.fixtures.virtual import NOON

ALL = ContactSearch()


def save(tx: Tx, account_id: int, *entries: ContactEntry, updates: bool = True) -> contacts.SavedContacts:
    return contacts.save_all(tx, account_id, entries, NOON, updates=updates)


def names(
    tx: Tx, account_id: int, wanted: ContactSearch = ALL, group: int | None = None, limit: int = 10
) -> list[str]:
    """Return the names of all that fit, page after page."""
    found: list[str] = []
    place: Place | None = Place()
    size = contact_groups.get(tx, account_id, group) if group else None
    while place is not None:
        chosen = (group, size.contacts) if group and size else None
        page = contacts.search(tx, account_id, wanted, chosen, place, limit)
        found += [each.name for each in page.contacts]
        place = page.next_after
    return found


@pytest.fixture
def account(tx: Tx) -> int:
    return accounts.ensure_account(tx, "acme", NOON)


def test_known_number_is_updated_or_stays(tx: Tx, account: int) -> None:
    save(tx, account, ContactEntry("01011112222", "하나", {"등급": "금", "메모": "a"}))

    kept = save(tx, account, ContactEntry("01011112222", "둘", {"등급": "은"}), updates=False)
    unchanged = save(tx, account, ContactEntry("01011112222", "", {"등급": "금"}))
    changed = save(tx, account, ContactEntry("01011112222", "셋", {"등급": "은"}), ContactEntry("01033334444"))

    assert [each[1:] for each in (kept, unchanged, changed)] == [(0, 0), (0, 0), (1, 1)]
    (found,) = contacts.find_by_phones(tx, account, ["01011112222"])
    assert (found.name, found.fields) == ("셋", {"등급": "은", "메모": "a"})
    assert changed.ids.keys() == {"01011112222", "01033334444"}
    assert contacts.get_book(tx, account).contacts == 2


def test_search_pages_by_name_number_and_digits(tx: Tx, account: int) -> None:
    other = accounts.ensure_account(tx, "other", NOON)
    people = ["김가", "김나", "나가", "Kim B", "kim a", ""]
    save(tx, account, *(ContactEntry(f"0101000{number:04}", name) for number, name in enumerate(people)))
    save(tx, other, ContactEntry("01010000001", "김다"))

    assert names(tx, account, limit=2) == ["", "kim a", "Kim B", "김가", "김나", "나가"]
    assert names(tx, account, parse_search("김"), limit=1) == ["김가", "김나"]
    assert names(tx, account, parse_search("KIM")) == ["kim a", "Kim B"]
    assert names(tx, account, parse_search("0002")) == ["나가"]
    assert names(tx, account, parse_search("010-1000-0001")) == ["김나"]
    assert names(tx, account, parse_search("010-1000"), limit=4) == people
    assert names(tx, account, parse_search("011-1000")) == []


def backwards(tx: Tx, account_id: int, wanted: ContactSearch, group: tuple[int, int] | None = None) -> list[str]:
    """Return the names of all that fit, from the last page to the first, two a page."""
    found: list[str] = []
    before: Place | None = contacts.LAST
    while before is not None:
        page = contacts.search(tx, account_id, wanted, group, Place(), 2, before)
        found = [*(each.name for each in page.contacts), *found]
        assert (page.next_after is None) is (before == contacts.LAST)
        before = page.previous_before
    return found


def test_search_pages_backwards_from_the_end(tx: Tx, account: int) -> None:
    people = ["가", "김나", "김다", "김라", "하"]
    saved = save(tx, account, *(ContactEntry(f"0101000{number:04}", name) for number, name in enumerate(people)))
    group = present(contact_groups.add(tx, account, "단골", NOON))
    contact_groups.add_members(tx, account, group, list(saved.ids.values()))

    assert backwards(tx, account, ALL) == people
    assert backwards(tx, account, parse_search("김")) == people[1:4]
    assert backwards(tx, account, parse_search("010-1000")) == people
    assert backwards(tx, account, ALL, (group, 5)) == people
    second = present(contacts.search(tx, account, ALL, None, Place(), 2).next_after)
    page = contacts.search(tx, account, ALL, None, second, 2)
    assert page.previous_before is not None
    back = contacts.search(tx, account, ALL, None, Place(), 2, page.previous_before)
    assert [each.name for each in back.contacts] == people[:2]
    assert back.previous_before is None


def test_contacts_are_found_by_the_value_of_a_field(tx: Tx, account: int) -> None:
    values = ["서울", "서울시", '서"울', "100%", "1000"]
    save(
        tx,
        account,
        *(ContactEntry(f"0101000{number:04}", str(number), {"도시": each}) for number, each in enumerate(values)),
        ContactEntry("01020000000", "other", {"메모": "서울"}),
    )

    def found(value: str) -> list[str]:
        page = contacts.search(tx, account, ALL, None, Place(), 10, field=("도시", value))
        return [each.name for each in page.contacts]

    assert [found(each) for each in values] == [["0"], ["1"], ["2"], ["3"], ["4"]]
    assert found("부산") == []


def test_groups_count_their_members(tx: Tx, account: int) -> None:
    saved = save(tx, account, *(ContactEntry(f"0101000{number:04}", f"n{number}") for number in range(5)))
    ids = list(saved.ids.values())
    first, second = (contact_groups.add(tx, account, name, NOON) for name in ("가", "나"))
    assert first is not None
    assert second is not None

    added = [contact_groups.add_members(tx, account, first, ids[:3]) for _ in range(2)]
    contact_groups.add_members(tx, account, second, ids[2:])
    removed = contact_groups.remove_members(tx, first, ids[2:4])
    deleted = contacts.delete(tx, account, ids[:1] + ids[4:])

    assert (added, removed, deleted) == ([3, 0], [ids[2]], 2)
    assert [(each.name, each.contacts) for each in contact_groups.list_all(tx, account)] == [("가", 1), ("나", 2)]
    assert names(tx, account, group=second, limit=1) == ["n2", "n3"]
    assert names(tx, account, parse_search("n3"), group=second) == ["n3"]
    assert names(tx, account, parse_search("0003"), group=first) == []
    assert contact_groups.groups_of(tx, ids) == {ids[1]: [first], ids[2]: [second], ids[3]: [second]}
    assert contacts.get_book(tx, account).contacts == 3


def test_members_of_several_groups_are_read_once(tx: Tx, account: int) -> None:
    saved = save(tx, account, *(ContactEntry(f"0101000{number:04}", f"n{number}") for number in range(6)))
    ids = list(saved.ids.values())
    first, second = (contact_groups.add(tx, account, name, NOON) or 0 for name in ("가", "나"))
    contact_groups.add_members(tx, account, first, ids[:4])
    contact_groups.add_members(tx, account, second, ids[2:])

    found: list[str] = []
    after = 0
    while some := contacts.list_after(tx, account, [first, second], after, 2):
        after = some[-1].id
        found += [each.name for each in some]

    assert found == [f"n{number}" for number in range(6)]
    assert [each.name for each in contacts.list_after(tx, account, [], ids[3], 9)] == ["n4", "n5"]


def test_group_of_another_account_is_not_found(tx: Tx, account: int) -> None:
    other = accounts.ensure_account(tx, "other", NOON)
    group = contact_groups.add(tx, account, "가", NOON) or 0

    assert contact_groups.add(tx, account, "가", NOON) is None
    assert contact_groups.get(tx, other, group) is None
    assert not contact_groups.rename(tx, other, group, "나")
    assert not contact_groups.delete(tx, other, group)
    assert contact_groups.delete(tx, account, group)


@pytest.mark.parametrize("typed", ["", "김", "5678", "010-1234-5678", "010-123"])
def test_every_search_uses_an_index(tx: Tx, account: int, typed: str) -> None:
    save(tx, account, *(ContactEntry(f"0101000{number:04}", f"김{number}") for number in range(200)))
    explaining = ExplainingTx(tx)

    contacts.search(explaining, account, parse_search(typed), None, Place(), 10)

    assert explaining.scans == [], explaining.scans
