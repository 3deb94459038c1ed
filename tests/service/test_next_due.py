"""Jobs below a watermark are not searched again until the watermarks are reset."""

from pabal.service.next_due import FIRST_KEPT_MS, RESET_INTERVAL_MS, SAFETY_MARGIN_MS, Watermarks
from pabal.store.queue.queue import Lane
from tests.fixtures.virtual import NOON


def watermarks_of(found: list[tuple[int, int, int]], *slots: int) -> Watermarks:
    """Return the watermarks of slots in which these jobs were found at noon."""
    watermarks = Watermarks()
    watermarks.record(watermarks.lanes(slots, NOON), found, NOON)
    return watermarks


def test_an_unknown_lane_is_searched_from_its_beginning() -> None:
    watermarks = watermarks_of([], 3)

    assert watermarks.lanes([7], NOON) == [(7, Lane.SMALL, 0), (7, Lane.CAMPAIGN, 0)]
    assert watermarks.for_slot(7) == (0, 0)


def test_a_watermark_is_a_safety_margin_below_the_first_due_job() -> None:
    watermarks = watermarks_of([(3, Lane.SMALL, NOON - 60_000), (3, Lane.CAMPAIGN, NOON - 5)], 3)

    assert watermarks.for_slot(3) == (NOON - 60_000 - SAFETY_MARGIN_MS, NOON - 5 - SAFETY_MARGIN_MS)
    assert watermarks.lanes([3], NOON + 1) == [
        (3, Lane.SMALL, NOON - 60_000 - SAFETY_MARGIN_MS),
        (3, Lane.CAMPAIGN, NOON - 5 - SAFETY_MARGIN_MS),
    ]


def test_a_lane_without_due_jobs_has_its_watermark_a_safety_margin_before_now() -> None:
    watermarks = watermarks_of([(3, Lane.CAMPAIGN, NOON + 60_000)], 3)

    assert watermarks.for_slot(3) == (NOON - SAFETY_MARGIN_MS, NOON - SAFETY_MARGIN_MS)


def test_watermarks_are_reset_periodically_so_that_no_job_stays_below_them() -> None:
    watermarks = watermarks_of([], 3)

    assert watermarks.lanes([3], NOON + RESET_INTERVAL_MS - 1)[0] == (3, Lane.SMALL, NOON - SAFETY_MARGIN_MS)
    assert watermarks.lanes([3], NOON + RESET_INTERVAL_MS)[0] == (3, Lane.SMALL, 0)
    assert watermarks.for_slot(3) == (0, 0)


def test_watermarks_are_reset_when_the_clock_is_set_back() -> None:
    watermarks = watermarks_of([], 3)

    assert watermarks.lanes([3], NOON - 1)[0] == (3, Lane.SMALL, 0)


def test_watermarks_follow_the_lowest_due_time_of_all_slots_and_of_recent_seconds() -> None:
    watermarks = watermarks_of([(3, Lane.SMALL, NOON - 60_000)], 3, 4)
    assert watermarks.for_slot(4) == (NOON - 60_000 - SAFETY_MARGIN_MS, NOON - SAFETY_MARGIN_MS)

    for now in (NOON + FIRST_KEPT_MS, NOON + FIRST_KEPT_MS + 1):
        watermarks.record(watermarks.lanes([3, 4], now), [], now)
        lowest = NOON - 60_000 if now == NOON + FIRST_KEPT_MS else NOON + FIRST_KEPT_MS
        assert watermarks.for_slot(4)[Lane.SMALL] == lowest - SAFETY_MARGIN_MS
