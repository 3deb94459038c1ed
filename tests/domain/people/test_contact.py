"""Contacts: what a search means, and what a contact may have."""

import pytest

from pabal.domain.base.codes import Code, Refused
from pabal.domain.people import contact
from pabal.domain.people.contact import ContactEntry, ContactSearch
from tests.fixtures.refusals import refused


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("", ContactSearch()),
        ("홍 길동", ContactSearch(name_key="홍길동".encode())),
        ("KIM", ContactSearch(name_key=b"kim")),
        ("5678", ContactSearch(tail=5678)),
        ("0012", ContactSearch(tail=12)),
        ("010-1234-5678", ContactSearch(phone=1012345678)),
        ("+82 10 1234 5678", ContactSearch(name_key=b"+821012345678")),
        ("010-123", ContactSearch(phone_ranges=((101230000, 101239999), (1012300000, 1012399999)))),
        ("123", ContactSearch(name_key=b"123")),
    ],
)
def test_search_is_for_a_number_its_digits_or_a_name(typed: str, wanted: ContactSearch) -> None:
    assert contact.parse_search(typed) == wanted


def test_contact_is_normalized_and_loses_empty_fields() -> None:
    parsed = contact.parse_contact("010 1234 5678", "  홍  길동 ", {"등급": " 금 ", "메모": " "})

    assert parsed == ContactEntry("01012345678", "홍 길동", {"등급": "금"})
    assert contact.values_of(parsed) == {"이름": "홍 길동", "name": "홍 길동", "등급": "금"}


@pytest.mark.parametrize(
    ("number", "name", "fields", "code"),
    [
        ("02-123-4567", "", {}, Code.INVALID_PHONE_NUMBER),
        ("010-1234-5678", "가" * 61, {}, Code.INVALID_PARAMETER),
        ("010-1234-5678", "", {"메모": "가" * 201}, Code.INVALID_PARAMETER),
    ],
)
def test_contact_that_breaks_a_rule_is_refused(number: str, name: str, fields: dict[str, str], code: Code) -> None:
    with refused(code):
        contact.parse_contact(number, name, fields)


@pytest.mark.parametrize("name", ["", " ", "이름", "name", "a}b", "가" * 31])
def test_field_needs_a_name_that_a_variable_can_have(name: str) -> None:
    with pytest.raises(Refused):
        contact.parse_field_name(name)
