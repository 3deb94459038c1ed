"""Whether two processes that deliver from one PostgreSQL deliver no less than one, and what each message costs."""

import contextlib
import random
import time
from pathlib import Path
from typing import NamedTuple

from bench.copying import copy_all
from bench.database import PostgresPlace, on_postgres
from bench.deliver import until_ended
from bench.figures import Figure, middle
from bench.fill import REQUEST_RECEIVERS, WORLD, campaigns, ready_to_keep, slots_of
from bench.looking import reading
from bench.server import DoesNotWork, Place, say
from pabal.domain.dates import SECOND

AIM_RATE = 1.0
AIM_CPU = 1.2
ROUNDS = 3
MESSAGES = 100_000
SHARED_WITHIN_S = 60.0
LOOK_EVERY_S = 0.1
_HOLDERS = "select count(*) from slots where worker_id is not null group by worker_id"


class Pace(NamedTuple):
    """How fast messages ended, and the processor time of each: in our processes, and in PostgreSQL's."""

    rate: float
    our_us: float
    its_us: float


def measure(place: Place) -> list[Figure]:
    """Deliver the same messages in turn, several times: by one worker, and by two."""
    found: dict[int, list[Pace]] = {1: [], 2: []}
    with on_postgres(place) as here:
        for _ in range(ROUNDS):
            for workers, paces in found.items():
                paces.append(_paced(here, workers))
    one, two = (Pace(*map(middle, zip(*paces, strict=True))) for paces in found.values())
    return [
        Figure(
            "workers",
            "messages a second by two workers / by one",
            two.rate / one.rate,
            aim=AIM_RATE,
            made_of=f"{two.rate:,.0f}/s and {one.rate:,.0f}/s",
        ),
        _cpu("our processes", one.our_us, two.our_us),
        _cpu("PostgreSQL", one.its_us, two.its_us),
    ]


def _cpu(whose: str, one_us: float, two_us: float) -> Figure:
    return Figure(
        "workers",
        f"CPU a message of {whose}, two workers / one",
        two_us / one_us,
        aim=AIM_CPU,
        side="at most",
        made_of=f"{two_us:.0f} and {one_us:.0f} µs",
    )


def _paced(place: PostgresPlace, workers: int) -> Pace:
    """Give a queue to workers that have shared the slots among themselves, and see how it gets empty."""
    data = place.fresh()
    total = slots_of(data)
    chance = random.Random(4)
    sends = enumerate(campaigns(MESSAGES // REQUEST_RECEIVERS, chance, None))
    promises = [ready_to_keep(each, WORLD.now(), chance, number % total) for number, each in sends]
    with contextlib.ExitStack() as stack:
        running = [stack.enter_context(place.pabal(data, "workers", "work")) for _ in range(workers)]
        _until_shared(data, workers)
        with place.connect(data) as connection:
            copy_all(connection, promises)
        began_at, before, its_before = WORLD.now(), sum(each.cpu_s() for each in running), place.store_cpu_s()
        took_s = (until_ended(data, MESSAGES) - began_at) / SECOND
        ours, its = sum(each.cpu_s() for each in running) - before, place.store_cpu_s() - its_before
    pace = Pace(MESSAGES / took_s, ours / MESSAGES * 1e6, its / MESSAGES * 1e6)
    say(
        f"  {workers} at work: {pace.rate:,.0f} messages/s,"
        f" {pace.our_us:.0f} µs CPU a message and {pace.its_us:.0f} µs of PostgreSQL's"
    )
    return pace


def _until_shared(data: Path, workers: int) -> None:
    """Wait until each worker holds its fair share of the slots."""
    fair = slots_of(data) // workers
    looking = reading(data)
    give_up_at = time.perf_counter() + SHARED_WITHIN_S
    while [row[0] for row in looking.rows(_HOLDERS)] != [fair] * workers:
        if time.perf_counter() > give_up_at:
            raise DoesNotWork(f"after {SHARED_WITHIN_S} s the slots are not shared among {workers} workers")
        time.sleep(LOOK_EVERY_S)
    looking.close()
