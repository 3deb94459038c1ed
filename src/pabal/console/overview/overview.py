"""The first page: what was sent today and in the last weeks, what became of it, and how the carriers do."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from typing import NamedTuple
from urllib.parse import urlencode

from starlette.responses import Response

from pabal.console.overview import charts
from pabal.console.overview.charts import Part
from pabal.console.shell.page_request import Visit
from pabal.domain import dates as dates_module
from pabal.domain.dates import SECOND, Instant, Period
from pabal.domain.message import OUTCOME_BY_NUMBER, PRODUCT_BY_NUMBER, STATUS_BY_NUMBER, Status
from pabal.service.upkeep.statistics import QUICK_MS, count
from pabal.store import carrier_states, statistics
from pabal.store.carrier_states import CarrierState
from pabal.store.engine.base import Tx
from pabal.store.statistics import Kind

DAYS = 28
SPANS = (1, 7, 28)
USUAL_SPAN = 7
KINDS = ("completed", "fail", "open", "cancel")
"""What messages are told apart by: arrived, failed, still under way, cancelled."""
_KIND = {
    Status.COMPLETED: "completed",
    Status.FAIL: "fail",
    Status.WAITING: "open",
    Status.SENDING: "open",
    Status.CANCEL: "cancel",
}


class Sums(NamedTuple):
    """How many messages, and how they stand."""

    completed: int
    fail: int
    open: int
    cancel: int

    @property
    def total(self) -> int:
        return sum(self)

    @property
    def share(self) -> str:
        """How many in a hundred of those that ended did arrive; empty where none has."""
        ended = self.completed + self.fail
        return f"{100 * self.completed / ended:.1f}" if ended else ""


class Day(NamedTuple):
    """A day's bar and its figures."""

    name: str
    sums: Sums
    parts: list[Part]


class Line(NamedTuple):
    """A row of a chart that is a table as well."""

    name: str
    sums: Sums
    parts: list[Part]


class CarrierRow(NamedTuple):
    """How a carrier does, for everyone."""

    name: str
    state: str
    since: str
    pace: int
    """How many messages a minute it takes."""
    rate: int


async def show_overview(visit: Visit) -> Response:
    """Show the figures of the account."""
    await count(visit.context, longest_ms=QUICK_MS)
    word = visit.field("days")
    span = int(word) if word in map(str, SPANS) else USUAL_SPAN
    dates = _dates(visit)
    periods = [dates_module.period(each.isoformat(), visit.speech.zone) for each in dates]
    found, states, as_of = await visit.context.store.read(_read, visit.account_id, periods)
    within = _added(found[-span:])
    return visit.page(
        "overview/overview.html",
        today=_sums(found[-1]),
        days=_days(dates, found),
        most=max([1, *(_sums(each).total for each in found)]),
        width=DAYS * charts.STEP,
        span=span,
        spans=SPANS,
        kinds=_kinds(visit, within),
        reasons=_reasons(visit, within),
        failed=_failed(dates[-span], dates[-1]),
        carriers=_carriers(visit, states),
        as_of=visit.speech.stamp(as_of if as_of is not None else visit.now),
        legend=KINDS,
    )


def _read(
    tx: Tx, account_id: int, periods: list[Period]
) -> tuple[list[dict[Kind, int]], list[CarrierState], Instant | None]:
    return statistics.of_account(tx, account_id, periods), carrier_states.states(tx), statistics.as_of(tx)


def _dates(visit: Visit) -> list[date]:
    """Return the days that are shown, in the service's zone, oldest first."""
    today = datetime.fromtimestamp(visit.now / SECOND, visit.speech.zone).date()
    return [today - timedelta(days=back) for back in reversed(range(DAYS))]


def _added(days: Iterable[Mapping[Kind, int]]) -> Counter[Kind]:
    total: Counter[Kind] = Counter()
    for each in days:
        total.update(each)
    return total


def _sums(found: Mapping[Kind, int]) -> Sums:
    by_kind: Counter[str] = Counter()
    for (_, status, _), number in found.items():
        by_kind[_KIND[STATUS_BY_NUMBER[status]]] += number
    return Sums(*(by_kind[kind] for kind in KINDS))


def _amounts(sums: Sums) -> list[tuple[str, int]]:
    return list(zip(KINDS, sums, strict=True))


def _days(dates: list[date], found: list[dict[Kind, int]]) -> list[Day]:
    sums = [_sums(each) for each in found]
    most = max([1, *(each.total for each in sums)])
    return [
        Day(day.isoformat(), each, charts.column(place, _amounts(each), most))
        for place, (day, each) in enumerate(zip(dates, sums, strict=True))
    ]


def _kinds(visit: Visit, found: Mapping[Kind, int]) -> list[Line]:
    products = sorted({product for product, _, _ in found})
    sums = {number: _sums({kind: many for kind, many in found.items() if kind[0] == number}) for number in products}
    most = max([1, *(each.total for each in sums.values())])
    return [
        Line(visit.words(PRODUCT_BY_NUMBER[number].label), each, charts.line(_amounts(each), most))
        for number, each in sums.items()
    ]


def _reasons(visit: Visit, found: Mapping[Kind, int]) -> list[tuple[str, int, int, list[Part]]]:
    """Return words, code and number of each reason that messages failed for, most frequent first."""
    failed: Counter[int] = Counter()
    for (_, status, outcome), many in found.items():
        if STATUS_BY_NUMBER[status] is Status.FAIL:
            failed[outcome] += many
    most = max([1, *failed.values()])
    return [
        (visit.words(OUTCOME_BY_NUMBER[number].label), number, many, charts.line([("fail", many)], most))
        for number, many in failed.most_common()
    ]


def _failed(first: date, last: date) -> str:
    """Return where the messages that failed in these days are listed."""
    fields = {"status": "fail", "requested_from": first.isoformat(), "requested_to": last.isoformat()}
    return f"/console/history?{urlencode(fields)}"


def _carriers(visit: Visit, states: list[CarrierState]) -> list[CarrierRow]:
    """Return the carriers that are set up, each as the worker sees it that is worst off."""
    worst = {"up": 0, "aside": 1, "down": 2}
    rows = []
    for name, carrier in visit.context.carriers.items():
        of_it = [each for each in states if each.name == name]
        state = max(of_it, key=lambda each: worst.get(each.state, 0), default=None)
        rows.append(
            CarrierRow(
                name,
                state.state if state else "unused",
                visit.speech.stamp(state.since) if state else "",
                sum(each.pace_at(visit.now) for each in of_it),
                round(carrier.rate),
            )
        )
    return rows
