"""Event ids, and cursors that say how far each slot was read."""

import pytest

from pabal.domain.events.event import (
    MAX_CURSOR_CHARACTERS,
    EventType,
    decode_positions,
    encode_positions,
    format_cursor,
    format_event_id,
    lowest_number,
    make_event_id,
    parse_cursor,
)
from tests.fixtures.virtual import NOON

NUMBER = lowest_number(NOON)
POSITIONS = {0: NUMBER, 1: NUMBER + 1, 7: NUMBER - 3 * 86_400_000_000, 1023: NUMBER + 10**9}


@pytest.mark.parametrize("positions", [{}, {0: 0}, {0: NUMBER}, {5: 1}, POSITIONS])
def test_cursor_is_read_back(positions: dict[int, int]) -> None:
    assert decode_positions(encode_positions(positions)) == positions
    assert parse_cursor(format_cursor(positions)) == positions


def test_cursor_of_most_slots_fits_its_limit_and_a_url() -> None:
    widest = {slot: 2**62 * (slot % 2) for slot in range(1024)}
    usual = {slot: NUMBER + slot * 7919 % 1_000_000 for slot in range(64)}

    assert len(format_cursor(widest)) < MAX_CURSOR_CHARACTERS
    assert len(format_cursor(usual)) < 400
    assert parse_cursor(format_cursor(widest)) == widest


@pytest.mark.parametrize(
    "spelling",
    [
        "",
        "x",
        "0",
        "가나다",
        "!!!!",
        "AAAA",
        "A" * 100,
        "A" * (MAX_CURSOR_CHARACTERS + 1),
        format_cursor({0: 1}) + "A",
    ],
)
def test_what_is_no_cursor_is_not_read(spelling: str) -> None:
    assert parse_cursor(spelling) is None


def test_every_changed_character_of_a_cursor_is_noticed() -> None:
    cursor = format_cursor(POSITIONS)

    for index, character in enumerate(cursor[:-1]):  # bits of the last one may be unused
        changed = cursor[:index] + ("B" if character != "B" else "C") + cursor[index + 1 :]
        assert parse_cursor(changed) is None


def test_event_id_follows_from_account_type_and_key() -> None:
    one = make_event_id(1, EventType.TEMPLATE_STATUS, "7 1")

    assert one == make_event_id(1, EventType.TEMPLATE_STATUS, "7 1")
    others = [
        make_event_id(2, EventType.TEMPLATE_STATUS, "7 1"),
        make_event_id(1, EventType.SENDER_AUTH, "7 1"),
        make_event_id(1, EventType.TEMPLATE_STATUS, "7 2"),
    ]
    assert len({one, *others}) == 4
    assert format_event_id(one) == f"evt_{one.hex()}"
