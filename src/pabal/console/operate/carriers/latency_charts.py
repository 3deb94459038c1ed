"""The chart of how long a carrier took to answer, over an hour or a day."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from pabal.console.shell.column_chart import ChartColumn, DrawnChart, draw_chart
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.dates import DAY, HOUR, MINUTE
from pabal.service.metrics import RESPONSE_BOUNDS_S
from pabal.service.upkeep.latency import Percentiles, add_up, find_percentiles
from pabal.service.upkeep.reports import MinuteLatency, get_latencies

SPANS = {"hour": (HOUR, 2 * MINUTE), "day": (DAY, 1 * HOUR)}
"""How long each period is, and each of its columns."""


class CarrierLatency(NamedTuple):
    """The response times of a carrier as a chart and as a table."""

    carrier: str
    chart: DrawnChart
    rows: Sequence[Sequence[str]]


async def read_chart(request: PageRequest) -> dict[str, object]:
    """Return what the page shows of the response times: those of one carrier, first of that with most answers."""
    word = request.field("span")
    span = word if word in SPANS else "hour"
    length, step = SPANS[span]
    first = request.now - request.now % step - length + step
    found = await get_latencies(request.context, first)
    answers = Counter[str]()
    for each in found:
        answers[each.carrier] += sum(each.counts)
    asked = request.field("carrier")
    chosen = asked if asked in answers else next((name for name, _ in answers.most_common(1)), "")
    starts = range(first, first + length, step)
    return {
        "span": span,
        "spans": list(SPANS),
        "answering": sorted(answers),
        "latency": _build(request, chosen, starts, [each for each in found if each.carrier == chosen])
        if chosen
        else None,
    }


def format_seconds(request: PageRequest, seconds: float) -> str:
    """Return a duration in words: 35 ms, 2.4 s, 60 s or more."""
    if seconds >= RESPONSE_BOUNDS_S[-1]:
        return request.t("operate.or_more", time=request.t("operate.seconds", count=round(seconds)))
    if seconds < 1:
        return request.t("operate.ms", count=round(seconds * 1000))
    return request.t("operate.seconds", count=f"{seconds:.1f}")


def _build(request: PageRequest, name: str, starts: range, found: Sequence[MinuteLatency]) -> CarrierLatency:
    columns, rows = [], []
    for start in starts:
        at = request.locale.format_timestamp(start)[11:16]
        percentiles = find_percentiles(add_up(each for each in found if start <= each.minute < start + starts.step))
        columns.append(_column(request, at, percentiles))
        if percentiles:
            rows.append(
                [at, f"{percentiles.answers:,}", *(format_seconds(request, each) for each in percentiles[1:])]
            )
    total = find_percentiles(add_up(found))
    if total:
        shown = [format_seconds(request, each) for each in total[1:]]
        rows.append([request.t("latency.total"), f"{total.answers:,}", *shown])
    about = request.t("latency.chart_about", carrier=name)
    chart = draw_chart(about, columns, lambda each: _format_tick(request, each), is_whole=False)
    return CarrierLatency(name, chart, rows)


def _column(request: PageRequest, at: str, found: Percentiles | None) -> ChartColumn:
    """Return a column whose parts end at the three percentiles."""
    if found is None:
        return ChartColumn(request.t("latency.point", at=at, answers=0), at, [], [])
    words = [
        f"{request.t(f'latency.{key}')} {format_seconds(request, value)}"
        for key, value in zip(("p50", "p95", "p99"), found[1:], strict=True)
    ]
    parts = [("p50", found.p50), ("p95", found.p95 - found.p50), ("p99", found.p99 - found.p95)]
    return ChartColumn(
        request.t("latency.point", at=at, answers=f"{found.answers:,}"), at, parts, [" · ".join(words)]
    )


def _format_tick(request: PageRequest, seconds: float) -> str:
    if seconds < 1:
        return request.t("operate.ms", count=f"{seconds * 1000:g}")
    return request.t("operate.seconds", count=f"{seconds:g}")
