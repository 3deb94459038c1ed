"""`python -m bench [NAME…]`: measures what is named, or everything, and prints one table."""

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
    console,
    deliver,
    history,
    months,
    nhncloud,
    pages,
    postgres,
    queue,
    small,
    smpp,
    start,
    workers,
)
from bench.figures import Figure, format_table
from bench.load import LoadFailed
from bench.server import BenchEnvironment, BenchmarkFailed, report_progress

MEASURES: dict[str, Callable[[BenchEnvironment], list[Figure]]] = {
    "accept": accept.measure,
    "campaign": campaign.measure,
    "console": console.measure,
    "deliver": deliver.measure,
    "history": history.measure,
    "pages": pages.measure,
    "small": small.measure,
    "smpp": smpp.measure,
    "nhncloud": nhncloud.measure,
    "start": start.measure,
    "postgres": postgres.measure,
    "workers": workers.measure,
    "queue": queue.measure,
    "months": months.measure,
}
MEMORY_TARGET_MB = 200
_MB = 1024 * 1024


def main() -> int:
    """Measure, print the table, and return 0 unless something did not work."""
    parser = argparse.ArgumentParser("bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"what to measure: {', '.join(MEASURES)}")
    names = parser.parse_args().names or list(MEASURES)
    unknown = [name for name in names if name not in MEASURES]
    if unknown:
        parser.error(f"no such measure: {', '.join(unknown)}")
    began = time.perf_counter()
    figures: list[Figure] = []
    is_broken = False
    with tempfile.TemporaryDirectory(prefix="pabal-bench-") as root:
        env = BenchEnvironment(Path(root))
        env.prepare()
        for name in names:
            report_progress(f"{name}: {sys.modules[MEASURES[name].__module__].__doc__}")
            try:
                figures += MEASURES[name](env)
            except (BenchmarkFailed, LoadFailed) as broken:
                is_broken = True
                report_progress(f"  DOES NOT WORK: {broken}")
    if env.peaks:
        figures.append(_memory_figure(env.peaks))
    took_s = time.perf_counter() - began
    report_progress(
        f"\nPython {platform.python_version()}, {_cores()} cores, shared with the load; {took_s:.0f} s\n"
    )
    report_progress(format_table(figures))
    return 1 if is_broken else 0


def _memory_figure(peaks: dict[str, int]) -> Figure:
    made_of = ", ".join(f"{doing} {peak // _MB}" for doing, peak in peaks.items())
    return Figure("memory", "most resident", max(peaks.values()) / _MB, " MB", MEMORY_TARGET_MB, "at most", made_of)


def _cores() -> int:
    return len(os.sched_getaffinity(0))


if __name__ == "__main__":
    sys.exit(main())
