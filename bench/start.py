"""How long the service takes to be ready, on an empty store and on a large one."""

from pathlib import Path

from bench.figures import Figure, middle
from bench.history import MANY, large
from bench.server import Place, say

AIM_S = 2.0
ROUNDS = 3


def measure(place: Place) -> list[Figure]:
    """Start it several times on each."""
    return [
        _started(place, place.fresh(), "an empty store"),
        _started(place, large(place), f"{MANY:,} waiting messages"),
    ]


def _started(place: Place, data: Path, what: str) -> Figure:
    took_s = []
    for _ in range(ROUNDS):
        with place.pabal(data, "start") as server:
            took_s.append(server.ready_after_s)
    say(f"  ready on {what} after {middle(took_s):.2f} s (median of {ROUNDS})")
    return Figure("start", f"ready on {what}", middle(took_s), " s", AIM_S, "at most")
