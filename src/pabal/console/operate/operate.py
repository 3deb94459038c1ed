"""What operators watch: carriers, the queue, the settings in force."""

from collections.abc import Sequence
from typing import NamedTuple

from starlette.responses import Response

from pabal.console.history.history import SENDABLE
from pabal.console.operate.settings_texts import KOREAN
from pabal.console.shell.page_request import Visit
from pabal.domain.dates import SECOND, Instant
from pabal.settings import settings as settings_module
from pabal.settings.carriers import SET
from pabal.store import carrier_states, queue
from pabal.store.carrier_states import CarrierState
from pabal.store.engine.base import Tx
from pabal.store.queue import Depth

STATE = "/console/operate/state"
LANES = ("operate.small", "operate.campaign", "operate.taken")
MINUTE_S, HOUR_S, DAY_S = 60, 3600, 86400


class Row(NamedTuple):
    """A carrier as a worker sees it."""

    name: str
    kind: str
    products: str
    pace: int
    rate: int
    worker: str
    state: str
    since: str
    reason: str
    trouble: str
    trouble_at: str


class Lane(NamedTuple):
    """How much waits in a carrier's lane, and for how long the oldest that is due does."""

    carrier: str
    name: str
    queue: int
    age: str


class Seen(NamedTuple):
    """Carriers and queue at one moment."""

    carrier_states: Sequence[Row]
    lanes: Sequence[Lane]
    at: str


async def show_state(visit: Visit) -> Response:
    """Show how carriers and queue do."""
    return visit.page("operate/operate.html", seen=await _seen(visit))


async def refresh_state(visit: Visit) -> Response:
    """Answer with how they do now."""
    return visit.page("operate/operate_state.html", seen=await _seen(visit))


async def show_settings(visit: Visit) -> Response:
    """Show every setting in force; of a secret only whether it is set."""
    is_korean = visit.speech.locale == "ko"
    rows = [
        (name, visit.say("settings.set") if value == SET else value, KOREAN[meaning] if is_korean else meaning)
        for name, value, meaning in settings_module.described(visit.rooms.settings)
    ]
    return visit.page("operate/operate_settings.html", rows=rows)


async def _seen(visit: Visit) -> Seen:
    context, now = visit.context, visit.now
    names = list(context.carriers)
    states, depths = await context.store.read(_read, range(context.slots.total), names, now)
    known = {state.name for state in states}
    unused = [CarrierState(name, "", 0, "") for name in names if name not in known]
    return Seen(
        [_row(visit, each) for each in [*states, *unused]],
        [_lane(visit, each, now) for each in depths],
        visit.speech.stamp(now),
    )


def _read(tx: Tx, slots: Sequence[int], names: list[str], now: Instant) -> tuple[list[CarrierState], list[Depth]]:
    return carrier_states.states(tx), queue.depths(tx, slots, names, now)


def _row(visit: Visit, state: CarrierState) -> Row:
    carrier = visit.context.carriers.get(state.name)
    settings = visit.rooms.settings.carriers.get(state.name)
    products = [product for product in SENDABLE if carrier and product in carrier.products]
    return Row(
        name=state.name,
        kind=settings.kind if settings else "",
        products=" · ".join(visit.words(product.label) for product in products),
        pace=state.pace_at(visit.now),
        rate=round(carrier.rate) if carrier else 0,
        worker=state.worker,
        state=(state.state or "unused") if carrier else "gone",
        since=visit.speech.stamp(state.since) if state.since else "",
        reason=state.reason,
        trouble=state.trouble or "",
        trouble_at=visit.speech.stamp(state.trouble_at) if state.trouble_at else "",
    )


def _lane(visit: Visit, depth: Depth, now: Instant) -> Lane:
    oldest = depth.oldest_ready_at
    age = "" if oldest is None else _age(visit, max(0, now - oldest) // SECOND)
    return Lane(depth.carrier, visit.say(LANES[depth.lane]), depth.jobs, age)


def _age(visit: Visit, seconds: int) -> str:
    for key, size in (("operate.days", DAY_S), ("operate.hours", HOUR_S), ("operate.minutes", MINUTE_S)):
        if seconds >= size:
            return visit.say(key, count=seconds // size)
    return visit.say("operate.seconds", count=seconds)
