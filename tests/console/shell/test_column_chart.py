"""Charts of columns: round scales, everything within its place, and a tooltip for each column."""

import pytest

from pabal.console.shell.column_chart import MAX_DATES, TIP_WIDTH_PX, ChartColumn, DrawnChart, draw_chart


def draw(*totals: float, before: float | None = None, is_whole: bool = True) -> DrawnChart:
    columns = [
        ChartColumn(f"day {place}", str(place), [("completed", each)], ["more"], before)
        for place, each in enumerate(totals)
    ]
    return draw_chart("about", columns, lambda amount: f"{amount:g}", is_whole=is_whole)


@pytest.mark.parametrize(
    ("highest", "is_whole", "ticks"),
    [
        (0, True, ["4", "3", "2", "1", "0"]),
        (3, True, ["4", "3", "2", "1", "0"]),
        (9, True, ["12", "9", "6", "3", "0"]),
        (1000, True, ["1000", "750", "500", "250", "0"]),
        (1001, True, ["2000", "1500", "1000", "500", "0"]),
        (0.3, False, ["0.4", "0.3", "0.2", "0.1", "0"]),
    ],
)
def test_scale_has_round_numbers_up_to_the_highest(highest: float, is_whole: bool, ticks: list[str]) -> None:
    assert draw(highest, is_whole=is_whole).ticks == ticks


def test_scale_reaches_the_amounts_to_compare_with() -> None:
    chart = draw(10, before=100)

    assert chart.ticks[0] == "100"
    assert chart.columns[0].before_y == 0


@pytest.mark.parametrize("count", [1, 2, 7, 31])
def test_columns_tooltips_and_dates_stay_within_the_drawing(count: int) -> None:
    chart = draw(*range(1, count + 1))

    assert all(each.ground_x <= each.x < each.x + each.width <= 100 for each in chart.columns)
    assert all(-TIP_WIDTH_PX <= each.tip_x_px <= 0 for each in chart.columns)
    assert 1 <= len(chart.dates) <= MAX_DATES
    assert chart.dates[-1][1] == str(count - 1)


def test_parts_are_stacked_and_small_amounts_stay_visible() -> None:
    parts = [("completed", 999_990.0), ("fail", 9.0), ("open", 0.0), ("cancel", 1.0)]

    (column,) = draw_chart("about", [ChartColumn("d", "d", parts, [])], str).columns

    assert [part.kind for part in column.parts] == ["completed", "fail", "cancel"]
    assert all(part.height > 0.5 for part in column.parts)
    assert [part.y for part in column.parts] == sorted((part.y for part in column.parts), reverse=True)
    assert column.lines == ("d",)
