"""`python -m bench.peers`: measures Kannel, if installed, and the service, and prints ratios with their spread."""

import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import TypeVar

from bench import sink
from bench.peers import measure
from bench.peers.callback_sink import running_callback_sink
from bench.peers.kannel import Kannel
from bench.peers.measure import Bench, Whole
from bench.peers.ours import Ours
from bench.peers.peer import Peer
from bench.server import BenchEnvironment, BenchmarkFailed, report_progress
from bench.webhook_sink import running_webhook_sink

T = TypeVar("T")

ROUNDS = 3
SHARES = (0.1, 0.5, 0.8)
"""Of the highest rate of the whole way, at which latencies are measured."""


def main() -> int:
    """Measure in rounds, one gateway after the other, and print the table."""
    if not Kannel.is_installed():
        print("Kannel is not installed. On Debian or Ubuntu: apt-get install kannel", file=sys.stderr)
        return 1
    with (
        tempfile.TemporaryDirectory(prefix="pabal-peers-") as root,
        sink.running() as smsc,
        running_callback_sink() as callbacks,
        running_webhook_sink(1, 0) as posts,
    ):
        env = BenchEnvironment(Path(root))
        env.prepare()
        kannel, ours = Kannel(), Ours(env, posts)
        try:
            rows = _measure(Bench(env, smsc, callbacks), kannel, ours)
        except BenchmarkFailed as failure:
            print(f"failed: {failure}", file=sys.stderr)
            return 1
    print(f"\n{_conditions(kannel)}\n\n" + "\n".join(rows))
    return 0


def _measure(bench: Bench, kannel: Peer, ours: Peer) -> list[str]:
    accepts = _rounds(kannel, ours, "accepted/s", lambda peer: measure.measure_accept(bench, peer))
    wholes = _rounds(
        kannel, ours, "with receipts", lambda peer: measure.measure_whole(bench, peer, has_callbacks=False)
    )
    told = _rounds(
        kannel, ours, "with callbacks", lambda peer: measure.measure_whole(bench, peer, has_callbacks=True)
    )
    rows = [
        "| What | Kannel | Pabal | Pabal / Kannel |",
        "|---|---|---|---|",
        _row("accepted a second (Kannel without receipts)", *accepts),
        *_rows_of("request to receipt", *wholes),
        *_rows_of("request to callback", *told),
    ]
    for share in SHARES:
        latencies = _rounds(
            kannel,
            ours,
            f"p99 at {share:.0%}",
            lambda peer, share=share: measure.measure_latency(  # type: ignore[misc]
                bench, peer, share * median([each.rate for each in wholes[peer is ours]])
            ),
        )
        rows.append(_row(f"p99 of accepting at {share:.0%} of its highest rate, ms", *latencies))
    killed = _rounds(kannel, ours, "kill -9", lambda peer: measure.measure_kill(bench, peer))
    for name in ("accepted", "lost", "doubled"):
        shown = [", ".join(str(getattr(each, name)) for each in found) for found in killed]
        rows.append(f"| kill -9 under load, {name} | {shown[0]} | {shown[1]} | |")
    return rows


def _rounds(kannel: Peer, ours: Peer, what: str, measure_one: Callable[[Peer], T]) -> tuple[list[T], list[T]]:
    """Measure both in turn."""
    found: tuple[list[T], list[T]] = ([], [])
    for number in range(ROUNDS):
        for peer, results in zip((kannel, ours), found, strict=True):
            results.append(measure_one(peer))
            report_progress(f"{what}, round {number + 1}, {peer.name}: {results[-1]}")
    return found


def _rows_of(what: str, kannel: Sequence[Whole], ours: Sequence[Whole]) -> list[str]:
    names = {
        "rate": f"{what}, messages a second",
        "p99_ms": f"{what}, p99 of accepting, ms",
        "cpu_us": f"{what}, CPU a message, µs",
        "peak_mb": f"{what}, peak memory, MB",
    }
    return [
        _row(words, *([getattr(each, name) for each in found] for found in (kannel, ours)))
        for name, words in names.items()
    ]


def _row(what: str, kannel: Sequence[float], ours: Sequence[float]) -> str:
    ratio = median(ours) / median(kannel)
    return f"| {what} | {_with_spread(kannel)} | {_with_spread(ours)} | {ratio:.2f} |"


def _with_spread(values: Sequence[float]) -> str:
    decimals = 0 if median(values) >= 100 else 1
    low, middle, high = (f"{value:,.{decimals}f}" for value in (min(values), median(values), max(values)))
    return f"{middle} ({low}–{high})"


def _conditions(kannel: Peer) -> str:
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True).stdout.strip()
    return (
        f"{kannel.name}; Pabal at {commit or 'an unknown commit'}, Python {platform.python_version()};"
        f" {measure.CONNECTIONS} connections, one message a request, {measure.MESSAGES:,} messages,"
        f" SMPP with a window of {sink.WINDOW:,}, medians of {ROUNDS} rounds (lowest–highest)"
    )


if __name__ == "__main__":
    sys.exit(main())
