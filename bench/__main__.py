"""`python -m bench [NAME…]`: measures the named scenarios, or all; `compare` measures two checkouts in turn.

`python -m bench compare --base DIR NAME…` runs the command of this checkout and of the one in DIR, round by round,
under the same load.
"""

import argparse
import contextlib
import importlib
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType

from bench.environment import THIS, Environment
from bench.figures import Figure, format_memory, format_table, format_value, tabulate, tabulate_two
from bench.load import LoadFailed
from bench.postgres import CitusEnvironment, postgres_environment
from bench.server import BenchmarkFailed, report_progress

SCENARIOS = (
    "accept", "deliver", "small", "pace", "fair", "webhooks", "relay", "history", "queue", "workers", "console",
    "contacts", "overload", "start", "compat",
)  # fmt: skip
ON_DEMAND = ("large", "citus")
"""Scenarios that only run if they are named."""
ENGINES = ("sqlite", "postgresql", "citus")
HEADS = ("scenario", "what", "measured", "target", "")
COMPARED_HEADS = ("scenario", "what", "base", "this", "times worse", "")


def main() -> int:
    """Run the benchmarks, print the table, and return 1 if one failed, else 0."""
    words = sys.argv[1:]
    compares = words[:1] == ["compare"]
    given = _parse(words[compares:], compares=compares)
    began = time.perf_counter()
    rows: list[tuple[str, ...]] = []
    failed: list[str] = []
    programs = [given.base / ".venv/bin/pabal", THIS] if compares else [THIS]
    with contextlib.ExitStack() as stack:
        environments = [stack.enter_context(_environment(each, given)) for each in programs]
        for name in given.names:
            scenario = importlib.import_module(f"bench.scenarios.{name}")
            report_progress(f"{name}: {scenario.__doc__}")
            try:
                found = _measure(scenario, environments, given.rounds or scenario.ROUNDS)
            except (BenchmarkFailed, LoadFailed) as error:
                report_progress(f"  FAILED: {error}")
                failed.append(name)
                continue
            rows += tabulate_two(name, *found) if compares else tabulate(name, *found)
    took_s, cores = time.perf_counter() - began, len(os.sched_getaffinity(0))
    report_progress(f"\nPython {platform.python_version()}, {cores} cores, shared with the load; {took_s:.0f} s\n")
    report_progress(format_table(COMPARED_HEADS if compares else HEADS, rows))
    report_progress(format_memory(environments[-1].peaks))
    if failed:
        report_progress(f"FAILED: {', '.join(failed)}")
    return 1 if failed else 0


def _parse(words: Sequence[str], *, compares: bool) -> argparse.Namespace:
    parser = argparse.ArgumentParser("bench", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"scenarios: {', '.join(SCENARIOS + ON_DEMAND)}")
    parser.add_argument("--engine", choices=ENGINES, default="sqlite", help="where the stores are (sqlite)")
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2], help="numbers of processes (1 2)")
    parser.add_argument("--rounds", type=int, help="how often each scenario is measured (as it says)")
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the numbers of messages (1)")
    if compares:
        parser.add_argument("--base", type=Path, required=True, help="the checkout to compare with, with a .venv")
    given = parser.parse_args(words)
    given.names = given.names or list(SCENARIOS)
    unknown = [name for name in given.names if name not in SCENARIOS + ON_DEMAND]
    if unknown:
        parser.error(f"no such scenario: {', '.join(unknown)}")
    return given


def _measure(scenario: ModuleType, environments: Sequence[Environment], rounds: int) -> list[list[list[Figure]]]:
    """Return the figures of each round, by environment; they take turns, in the other order every second round."""
    found: list[list[list[Figure]]] = [[] for _ in environments]
    for number in range(rounds):
        for position in range(len(environments)) if number % 2 == 0 else reversed(range(len(environments))):
            env = environments[position]
            found[position].append(scenario.measure(env))
            shown = ", ".join(f"{each.what} {format_value(each.value, each.unit)}" for each in found[position][-1])
            report_progress(f"  round {number + 1}, {env.program}: {shown}")
    return found


@contextlib.contextmanager
def _environment(program: Path, given: argparse.Namespace) -> Iterator[Environment]:
    with contextlib.ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pabal-bench-")))
        kind = CitusEnvironment if given.engine == "citus" else Environment
        env = kind(root, program, tuple(given.processes), given.scale)
        if given.engine == "postgresql":
            yield stack.enter_context(postgres_environment(env))
        else:
            env.prepare()
            yield env


if __name__ == "__main__":
    sys.exit(main())
