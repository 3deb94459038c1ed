"""Floors: what is below them is not walked again, and nothing stays below them for long."""

from pabal.service.delivery.watermarks import FORGOTTEN_AFTER, MARGIN, Floors
from pabal.store.queue import CAMPAIGN, SMALL
from tests.fixtures.virtual import NOON


def known(found: list[tuple[int, int, int]], *slots: int) -> Floors:
    """Return the floors of slots in which this was found at noon."""
    floors = Floors()
    floors.note(floors.lanes(slots, NOON), found, NOON)
    return floors


def test_a_lane_that_nobody_has_looked_at_is_looked_at_from_its_beginning() -> None:
    floors = known([], 3)

    assert floors.lanes([7], NOON) == [(7, SMALL, 0), (7, CAMPAIGN, 0)]
    assert floors.of(7) == (0, 0)


def test_a_floor_is_a_little_below_what_was_found() -> None:
    floors = known([(3, SMALL, NOON - 60_000), (3, CAMPAIGN, NOON - 5)], 3)

    assert floors.of(3) == (NOON - 60_000 - MARGIN, NOON - 5 - MARGIN)
    assert floors.lanes([3], NOON + 1) == [
        (3, SMALL, NOON - 60_000 - MARGIN),
        (3, CAMPAIGN, NOON - 5 - MARGIN),
    ]


def test_a_lane_with_nothing_or_only_things_for_later_has_its_floor_a_little_before_now() -> None:
    floors = known([(3, CAMPAIGN, NOON + 60_000)], 3)

    assert floors.of(3) == (NOON - MARGIN, NOON - MARGIN)


def test_floors_are_forgotten_after_a_while_so_that_nothing_below_them_is_overlooked_for_good() -> None:
    floors = known([], 3)

    assert floors.lanes([3], NOON + FORGOTTEN_AFTER - 1)[0] == (3, SMALL, NOON - MARGIN)
    assert floors.lanes([3], NOON + FORGOTTEN_AFTER)[0] == (3, SMALL, 0)
    assert floors.of(3) == (0, 0)


def test_floors_are_forgotten_when_the_clock_is_set_back() -> None:
    floors = known([], 3)

    assert floors.lanes([3], NOON - 1)[0] == (3, SMALL, 0)
