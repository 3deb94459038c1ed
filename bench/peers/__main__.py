"""`python -m bench.peers`: measures other gateways and the service, and prints ratios with their spread."""

import argparse
import contextlib
import platform
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import TypeVar

from bench.environment import Environment
from bench.peers import measure
from bench.peers.gateway import Gateway, Pabal
from bench.peers.jasmin import Jasmin
from bench.peers.kannel import Kannel
from bench.peers.measure import Bench, Killed
from bench.postgres import postgres_environment
from bench.server import BenchmarkFailed, report_progress
from bench.smsc import WINDOW, running_smsc
from bench.through import Through
from bench.webhook_sink import running_webhook_sink

T = TypeVar("T")

ROUNDS = 3
SHARES = (0.5, 1.0)
"""Of the highest rate of the first gateway's whole way: all are driven at it when latencies are measured."""
MEASURES = ("accept", "receipts", "callbacks", "latency", "kill")
PEERS = ("kannel", "jasmin", "sqlite", "sqlite2", "sqlite3", "postgres2")
DEFAULT_PEERS = tuple(each for each in PEERS if each != "jasmin")
_WHOLE_ROWS = {
    "rate": "messages a second",
    "p99_ms": "p99 of accepting, ms",
    "cpu_us": "CPU a message, µs",
    "outside_us": "CPU of load and SMSC a message, µs",
    "peak_mb": "peak memory, MB",
}


def main() -> int:
    """Measure in rounds, one gateway after the other, and print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench.peers")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=DEFAULT_PEERS)
    parser.add_argument("--jasmin", type=Path, default=Path(), help="the virtual environment with Jasmin")
    parser.add_argument("--measures", nargs="+", choices=MEASURES, default=MEASURES)
    parser.add_argument("--messages", type=int, default=measure.MESSAGES, help="of a run that is the whole way")
    given = parser.parse_args()
    if "kannel" in given.peers and not Kannel.is_installed():
        print("Kannel is not installed. On Debian or Ubuntu: apt-get install kannel", file=sys.stderr)
        return 1
    if "jasmin" in given.peers and not Jasmin.is_installed(given.jasmin):
        print(
            "Jasmin is not installed. On Debian or Ubuntu: apt-get install rabbitmq-server redis-server;"
            " then `pip install jasmin` into a virtual environment of its own, and name that with --jasmin",
            file=sys.stderr,
        )
        return 1
    with tempfile.TemporaryDirectory(prefix="pabal-peers-") as root:
        env = Environment(Path(root))
        env.prepare()
        try:
            with _running_peers(env, given) as (bench, peers):
                comparison = Comparison(bench, peers, given.rounds)
                rows = comparison.measure(given.measures)
        except BenchmarkFailed as failure:
            print(f"failed: {failure}", file=sys.stderr)
            return 1
    print(f"\n{_conditions(given.rounds, given.messages)}\n\n" + "\n".join(rows))
    return 0


@contextlib.contextmanager
def _running_peers(env: Environment, given: argparse.Namespace) -> Iterator[tuple[Bench, list[Gateway]]]:
    """Start what all of them share, and yield the gateways that were asked for."""
    with contextlib.ExitStack() as stack:
        smsc = stack.enter_context(running_smsc())
        sink = stack.enter_context(running_webhook_sink())
        found: dict[str, Callable[[], Gateway]] = {
            "kannel": Kannel,
            "jasmin": lambda: Jasmin(given.jasmin.absolute()),
            "sqlite": lambda: Pabal("SQLite", env, sink, 1),
            "sqlite2": lambda: Pabal("SQLite", env, sink, 2),
            "sqlite3": lambda: Pabal("SQLite", env, sink, 3),
            "postgres2": lambda: Pabal("PostgreSQL", stack.enter_context(postgres_environment(env)), sink, 2),
        }
        yield Bench(env, smsc, sink, given.messages), [found[name]() for name in given.peers]


class Comparison:
    """Measures gateways in turn; the first is what the others are compared with."""

    def __init__(self, bench: Bench, peers: Sequence[Gateway], rounds: int) -> None:
        self._bench = bench
        self._peers = peers
        self._rounds = rounds

    def measure(self, what: Sequence[str]) -> list[str]:
        """Return the rows of the table."""
        bench, names = self._bench, [each.name for each in self._peers]
        rows = ["| What | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
        if "accept" in what:
            accepted = self._measure_all("accepted/s", lambda peer: measure.measure_accept(bench, peer))
            rows.append(_row("accepted a second (Kannel without receipts)", accepted))
        if "receipts" in what or "latency" in what:
            wholes = self._measure_all("with receipts", lambda peer: measure.measure_whole(bench, peer))
            rows += _rows_of("request to receipt", wholes)
        if "callbacks" in what:
            told = self._measure_all(
                "with callbacks", lambda peer: measure.measure_whole(bench, peer, has_callbacks=True)
            )
            rows += _rows_of("request to callback", told)
        if "latency" in what:
            highest = median([each.rate for each in wholes[self._peers[0].name]])
            rows += [self._measure_latency(share, share * highest) for share in SHARES]
        if "kill" in what:
            killed = self._measure_all("kill -9", lambda peer: measure.measure_kill(bench, peer))
            rows += [_killed_row(name, killed) for name in Killed._fields]
        return rows

    def _measure_latency(self, share: float, rate: float) -> str:
        latencies = self._measure_all(
            f"p99 at {rate:.0f} a second", lambda peer: measure.measure_latency(self._bench, peer, rate)
        )
        return _row(f"p99 of accepting at {share:.0%} of the first one's highest rate, ms", latencies)

    def _measure_all(self, what: str, measure_one: Callable[[Gateway], T]) -> dict[str, list[T]]:
        """Return what was found in each round, by gateway."""
        found: dict[str, list[T]] = {each.name: [] for each in self._peers}
        for number in range(self._rounds):
            for peer in self._peers:
                found[peer.name].append(measure_one(peer))
                report_progress(f"{what}, round {number + 1}, {peer.name}: {found[peer.name][-1]}")
        return found


def _rows_of(what: str, found: Mapping[str, Sequence[Through]]) -> list[str]:
    return [
        _row(f"{what}, {words}", {name: [getattr(each, field) for each in some] for name, some in found.items()})
        for field, words in _WHOLE_ROWS.items()
    ]


def _row(what: str, found: Mapping[str, Sequence[float]]) -> str:
    """Return a row with medians, spreads, and ratios to the first."""
    first, *others = found.values()
    cells = [_with_spread(first), *(f"{_with_spread(each)}: {median(each) / median(first):.2f}" for each in others)]
    return f"| {what} | " + " | ".join(cells) + " |"


def _killed_row(field: str, found: Mapping[str, Sequence[Killed]]) -> str:
    cells = [", ".join(str(getattr(each, field)) for each in some) for some in found.values()]
    return f"| kill -9 under load, {field} | " + " | ".join(cells) + " |"


def _with_spread(values: Sequence[float]) -> str:
    decimals = 0 if median(values) >= 100 else 1
    low, middle, high = (f"{value:,.{decimals}f}" for value in (min(values), median(values), max(values)))
    return f"{middle} ({low}–{high})"


def _conditions(rounds: int, messages: int) -> str:
    return (
        f"Python {platform.python_version()};"
        f" {measure.CONNECTIONS} connections, one message a request, {messages:,} messages,"
        f" SMPP with a window of {WINDOW:,}, medians of {rounds} rounds (lowest–highest): ratio to the first"
    )


if __name__ == "__main__":
    sys.exit(main())
