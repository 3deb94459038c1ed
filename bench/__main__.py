"""`python -m bench [NAME…]`: runs the named benchmarks, or all, and prints one table."""

import argparse
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench import (
    accept,
    campaign,
    citus,
    console,
    contacts,
    deliver,
    history,
    many,
    months,
    nhncloud,
    nhncloud_brand,
    overload,
    pages,
    postgres,
    queue,
    scheduled,
    shares,
    small,
    smpp,
    solapi,
    start,
    turns,
    webhooks,
    workers,
)
from bench.figures import Figure, format_table
from bench.load import LoadFailed
from bench.server import BenchEnvironment, BenchmarkFailed, report_progress

BENCHMARKS: dict[str, Callable[[BenchEnvironment], list[Figure]]] = {
    "accept": accept.measure,
    "campaign": campaign.measure,
    "console": console.measure,
    "contacts": contacts.measure,
    "deliver": deliver.measure,
    "history": history.measure,
    "overload": overload.measure,
    "pages": pages.measure,
    "scheduled": scheduled.measure,
    "shares": shares.measure,
    "small": small.measure,
    "smpp": smpp.measure,
    "nhncloud": nhncloud.measure,
    "brand": nhncloud_brand.measure,
    "solapi": solapi.measure,
    "start": start.measure,
    "turns": turns.measure,
    "webhooks": webhooks.measure,
    "postgres": postgres.measure,
    "workers": workers.measure,
    "queue": queue.measure,
    "months": months.measure,
    "citus": citus.measure,
    "many": many.measure,
}
LONG = ("many",)
"""Those that run only where they are named: they take ten minutes and some gigabytes."""
MEMORY_TARGET_MB = 200
_MB = 1024 * 1024


def main() -> int:
    """Run the benchmarks, print the table, and return 1 if one failed, else 0."""
    parser = argparse.ArgumentParser("bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"benchmarks to run: {', '.join(BENCHMARKS)}")
    parser.add_argument("--processes", type=int, default=1, help="how many processes `small` starts on SQLite")
    given = parser.parse_args()
    names = given.names or [name for name in BENCHMARKS if name not in LONG]
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no such benchmark: {', '.join(unknown)}")
    began = time.perf_counter()
    figures: list[Figure] = []
    has_failed = False
    with tempfile.TemporaryDirectory(prefix="pabal-bench-") as root:
        env = BenchEnvironment(Path(root), given.processes)
        env.prepare()
        for name in names:
            report_progress(f"{name}: {sys.modules[BENCHMARKS[name].__module__].__doc__}")
            try:
                figures += BENCHMARKS[name](env)
            except (BenchmarkFailed, LoadFailed) as error:
                has_failed = True
                report_progress(f"  FAILED: {error}")
    if env.peaks:
        figures.append(_memory_figure(env.peaks))
    took_s = time.perf_counter() - began
    report_progress(
        f"\nPython {platform.python_version()}, {_cores()} cores, shared with the load; {took_s:.0f} s\n"
    )
    report_progress(format_table(figures))
    return 1 if has_failed else 0


def _memory_figure(peaks: dict[str, int]) -> Figure:
    details = ", ".join(f"{benchmark} {peak // _MB}" for benchmark, peak in peaks.items())
    return Figure("memory", "peak resident", max(peaks.values()) / _MB, " MB", MEMORY_TARGET_MB, "at most", details)


def _cores() -> int:
    return len(os.sched_getaffinity(0))


if __name__ == "__main__":
    sys.exit(main())
