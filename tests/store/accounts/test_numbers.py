"""Sender numbers: approved for one account at most."""

import pytest

from pabal.domain.people.phone import NumberState
from pabal.store.accounts import accounts, numbers
from pabal.store.engine.base import Tx
from tests.fixtures.rows import present
from tests.fixtures.virtual import NOON

NUMBER = "0212345678"
APPROVED, PENDING, REJECTED = NumberState.APPROVED, NumberState.PENDING, NumberState.REJECTED


@pytest.fixture(autouse=True)
def both(tx: Tx) -> None:
    for name in ("acme", "other"):
        accounts.ensure_account(tx, name, NOON)


def listed(tx: Tx) -> list[tuple[str, str, NumberState, str | None]]:
    return [(each.account, each.number, each.state, each.held_by) for each in numbers.list_all(tx)]


def test_number_is_registered_once_and_only_for_its_account(tx: Tx) -> None:
    assert numbers.add(tx, 1, NUMBER, NOON)
    assert not numbers.add(tx, 1, NUMBER, NOON + 1)

    assert numbers.get_state(tx, 1, NUMBER) is APPROVED
    assert numbers.get_state(tx, 1, "15881588") is None
    assert numbers.get_state(tx, 2, NUMBER) is None
    assert [each.number for each in numbers.list_by_account(tx, 1)] == [NUMBER]
    assert numbers.list_by_account(tx, 2) == []


def test_number_is_approved_for_one_account_at_most(tx: Tx) -> None:
    assert numbers.add(tx, 1, NUMBER, NOON)

    assert not numbers.add(tx, 2, NUMBER, NOON)
    assert numbers.add(tx, 2, NUMBER, NOON, PENDING)

    assert listed(tx) == [("acme", NUMBER, APPROVED, None), ("other", NUMBER, PENDING, "acme")]
    assert numbers.get_holder(tx, NUMBER) == (1, "acme")
    waiting = present(numbers.get(tx, 2, NUMBER))
    assert numbers.list_pending(tx, 10) == [waiting]
    assert numbers.get_state(tx, 2, NUMBER) is PENDING
    assert not numbers.set_state(tx, waiting, APPROVED)


def test_states_of_a_number(tx: Tx) -> None:
    numbers.add(tx, 1, NUMBER, NOON, PENDING)
    for state, comment in ((REJECTED, "not yours"), (APPROVED, "")):
        found = present(numbers.get(tx, 1, NUMBER))

        assert numbers.set_state(tx, found, state, comment)

        now = numbers.get(tx, 1, NUMBER)
        assert now == found._replace(state=state, comment=comment)
        assert numbers.list_pending(tx, 10) == []


def test_number_is_removed_once(tx: Tx) -> None:
    numbers.add(tx, 1, NUMBER, NOON)

    assert not numbers.remove(tx, 2, NUMBER)
    assert numbers.remove(tx, 1, NUMBER)
    assert not numbers.remove(tx, 1, NUMBER)
    assert numbers.get_state(tx, 1, NUMBER) is None
    assert numbers.add(tx, 2, NUMBER, NOON), "now another account may have it"
