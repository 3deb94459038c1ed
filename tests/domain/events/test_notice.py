"""Addresses of mails, and what roles are told unless they choose otherwise."""

import pytest

from pabal.domain.base.codes import Code
from pabal.domain.events.notice import NoticeKind, parse_address, usual_kinds
from pabal.domain.people.user import Role
from tests.fixtures.refusals import refused


@pytest.mark.parametrize(
    ("spelling", "address"),
    [
        ("kim@example.com", "kim@example.com"),
        ("  Kim.Lee+tag@EXAMPLE.co.kr ", "Kim.Lee+tag@example.co.kr"),
        ("o'hara@xn--9n2bp8q.kr", "o'hara@xn--9n2bp8q.kr"),
        ("root@localhost", "root@localhost"),
    ],
)
def test_addresses_that_servers_take(spelling: str, address: str) -> None:
    assert parse_address(spelling) == address


@pytest.mark.parametrize(
    "spelling",
    [
        "kim", "@example.com", "kim@", "kim@example", "kim@@example.com", "kim@exa mple.com", "김@example.com",
        "kim@예시.kr", "a..b@example.com", ".a@example.com", '"a b"@example.com', "Kim <kim@example.com>",
        "kim@example.com\r\nRCPT TO:<x@y.kr>", "kim@example.com,x@y.kr", "kim@[127.0.0.1]",
        "kim@-a.com", f"{'a' * 65}@example.com", f"a@{'b' * 63}.{'c' * 63}.{'d' * 63}.{'e' * 60}.com",
        "k\0m@example.com",
    ],
)  # fmt: skip
def test_other_addresses_are_refused(spelling: str) -> None:
    with refused(Code.INVALID_PARAMETER):
        parse_address(spelling)


def test_each_role_is_told_of_what_it_can_act_on() -> None:
    assert usual_kinds(Role.OPERATOR) == {NoticeKind.CARRIER, NoticeKind.QUOTA}
    assert usual_kinds(Role.OWNER) == set(NoticeKind) - {NoticeKind.CARRIER}
    assert usual_kinds(Role.SENDER) == {NoticeKind.APPROVAL}
    assert usual_kinds(Role.VIEWER) == frozenset()
