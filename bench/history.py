"""Whether looking things up and claiming stay as quick when there is much: a million beside ten thousand."""

import time
from pathlib import Path

from bench import bodies, load
from bench.figures import Figure, middle, milliseconds
from bench.fill import CARRIER, POLICY, REQUEST_RECEIVERS, WORLD, fill, with_store
from bench.server import Place, say
from pabal.carriers.base import DEFAULT_BATCH_SIZE
from pabal.domain.dates import HOUR, MINUTE
from pabal.service.delivery.claim import ClaimRequest, claim
from pabal.store.engine.base import Store

AIM = 1.5
MANY, FEW = 1_000_000, 10_000
REGULARS = 100
"""Receivers that have ten messages each among all the others."""
ROUNDS = 3
LOOKUPS = 300
CLAIMS = 12
LATER = 10 * HOUR


def large(place: Place) -> Path:
    """Return a data directory with a million waiting messages, made if new."""
    data = place.root / "large"
    if not data.exists():
        place.fresh().rename(data)
        say(f"  filling a store with {MANY:,} messages")
        fill(data, MANY // REQUEST_RECEIVERS, scheduled_after=LATER, regulars=REGULARS, say=say)
    return data


def measure(place: Place) -> list[Figure]:
    """Look up the same receivers in both stores in turn, then claim from both."""
    many, few = large(place), place.fresh()
    fill(few, FEW // REQUEST_RECEIVERS, scheduled_after=LATER, regulars=REGULARS)
    in_many: list[float] = []
    in_few: list[float] = []
    with place.pabal(many, "history") as among_many, place.pabal(few, "history") as among_few:
        for _ in range(ROUNDS):
            in_few += _looked_up(place, among_few.port)
            in_many += _looked_up(place, among_many.port)
    say(f"  a page among {MANY:,}: {milliseconds(in_many)}; among {FEW:,}: {milliseconds(in_few)}")
    from_many, from_few = _claimed(many), _claimed(few)
    say(
        f"  a claim of {DEFAULT_BATCH_SIZE} among {MANY:,}: {milliseconds(from_many)};"
        f" among {FEW:,}: {milliseconds(from_few)}"
    )
    return [
        Figure(
            "history",
            "time of a receiver's page among 1,000,000 / among 10,000",
            middle(in_many) / middle(in_few),
            aim=AIM,
            side="at most",
            made_of=f"{milliseconds(in_many)} and {milliseconds(in_few)}",
        ),
        Figure(
            "history",
            "time of a claim of 500 among 1,000,000 / among 10,000",
            middle(from_many) / middle(from_few),
            aim=AIM,
            side="at most",
            made_of=f"{milliseconds(from_many)} and {milliseconds(from_few)}",
        ),
    ]


def _looked_up(place: Place, port: int) -> list[float]:
    seen = load.run(
        load.Plan(port=port, path=bodies.LIST, key=place.key, bodies=bodies.lookups(REGULARS), count=LOOKUPS)
    )
    return seen.latencies_s


def _claimed(data: Path) -> list[float]:
    async def work(store: Store) -> list[float]:
        found = []
        now = WORLD.now() + 2 * LATER
        for _ in range(CLAIMS):
            began = time.perf_counter()
            claimed = await store.write(claim, ClaimRequest(0, CARRIER, DEFAULT_BATCH_SIZE, MINUTE), POLICY, now)
            found.append(time.perf_counter() - began)
            assert len(claimed.leased) == DEFAULT_BATCH_SIZE
        return found

    return with_store(data, work)
