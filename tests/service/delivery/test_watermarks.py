"""Floors: what is below them is not walked again, and nothing stays below them for long."""

from pabal.service.delivery.watermarks import RESET_INTERVAL_MS, SAFETY_MARGIN_MS, Watermarks
from pabal.store.queue import Lane
from tests.fixtures.virtual import NOON


def known(found: list[tuple[int, int, int]], *slots: int) -> Watermarks:
    """Return the floors of slots in which this was found at noon."""
    floors = Watermarks()
    floors.record(floors.lanes(slots, NOON), found, NOON)
    return floors


def test_a_lane_that_nobody_has_looked_at_is_looked_at_from_its_beginning() -> None:
    floors = known([], 3)

    assert floors.lanes([7], NOON) == [(7, Lane.SMALL, 0), (7, Lane.CAMPAIGN, 0)]
    assert floors.for_slot(7) == (0, 0)


def test_a_floor_is_a_little_below_what_was_found() -> None:
    floors = known([(3, Lane.SMALL, NOON - 60_000), (3, Lane.CAMPAIGN, NOON - 5)], 3)

    assert floors.for_slot(3) == (NOON - 60_000 - SAFETY_MARGIN_MS, NOON - 5 - SAFETY_MARGIN_MS)
    assert floors.lanes([3], NOON + 1) == [
        (3, Lane.SMALL, NOON - 60_000 - SAFETY_MARGIN_MS),
        (3, Lane.CAMPAIGN, NOON - 5 - SAFETY_MARGIN_MS),
    ]


def test_a_lane_with_nothing_or_only_things_for_later_has_its_floor_a_little_before_now() -> None:
    floors = known([(3, Lane.CAMPAIGN, NOON + 60_000)], 3)

    assert floors.for_slot(3) == (NOON - SAFETY_MARGIN_MS, NOON - SAFETY_MARGIN_MS)


def test_floors_are_forgotten_after_a_while_so_that_nothing_below_them_is_overlooked_for_good() -> None:
    floors = known([], 3)

    assert floors.lanes([3], NOON + RESET_INTERVAL_MS - 1)[0] == (3, Lane.SMALL, NOON - SAFETY_MARGIN_MS)
    assert floors.lanes([3], NOON + RESET_INTERVAL_MS)[0] == (3, Lane.SMALL, 0)
    assert floors.for_slot(3) == (0, 0)


def test_floors_are_forgotten_when_the_clock_is_set_back() -> None:
    floors = known([], 3)

    assert floors.lanes([3], NOON - 1)[0] == (3, Lane.SMALL, 0)
