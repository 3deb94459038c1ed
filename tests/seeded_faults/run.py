"""Counts which of the drawn faults the tests catch: `python -m tests.seeded_faults.run reach`, then `catch`.

Both work in a copy of the repository, which is removed afterwards. `reach` notes in a file which tests enter the
function of each fault. `catch` then applies one fault at a time and runs the tests that enter its function, those
of the same part of the code first, until one fails. A fault whose code is gone does not count; the next one that
was drawn for its area does.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.seeded_faults.draw import AREAS, FAULTS_PER_AREA, ROOT, Fault, add_probe, apply, read_faults

FOLDERS = ("domain", "checks", "store", "web", "carriers", "service", "compat", "webhooks", "client", "hostile")
LATE_FOLDERS = ("sim", "cli", "console", "faults")
"""Slow ones, for what the others do not enter."""
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=no"]
FIRST_TESTS = 15
MAX_TESTS = 100
"""So many of the tests that enter a function are run, in two steps."""

USAGE_ERROR = 4

PROBE = """
import os
_seen = set()
def enter(number):
    test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
    if test and (number, test) not in _seen:
        _seen.add((number, test))
        with open(os.environ["REACHED"], "a") as file:
            file.write(f"{number}\\t{test}\\n")
"""


def reach(reached: Path, workers: int) -> None:
    """Note in a file which tests enter the function of which fault."""
    with _copy() as copy:
        (copy / "src" / "entered.py").write_text(PROBE)
        for number, fault in enumerate(read_faults()):
            add_probe(fault, copy / "src" / "pabal", f"import entered; entered.enter({number})")
        for folder in (*FOLDERS, *LATE_FOLDERS):
            if (copy / "tests" / folder).is_dir():
                _run(copy, "-n", str(workers), "-m", "not torture", f"tests/{folder}", REACHED=str(reached))
                print(f"tests/{folder}: done", flush=True)


def catch(reached: Path, results: Path, limit_s: float) -> None:
    """Apply each fault that counts, run its tests and append to a file what became of it."""
    known = _read_results(results)
    faults = list(enumerate(read_faults()))
    with _copy() as copy:
        for area in AREAS:
            counted = 0
            for number, fault in (each for each in faults if each[1].area == area):
                if counted == FAULTS_PER_AREA:
                    break
                if number not in known:
                    known[number] = _outcome(number, fault, copy, reached, limit_s)
                    with results.open("a", encoding="utf-8") as file:
                        file.write(json.dumps({"fault": number, "outcome": known[number]}) + "\n")
                    print(number, fault.module, fault.function, known[number], flush=True)
                counted += known[number] != "gone"
    print(sum(each.startswith("caught") for each in known.values()), "caught")


def _outcome(number: int, fault: Fault, copy: Path, reached: Path, limit_s: float) -> str:
    module = apply(fault, copy / "src" / "pabal")
    if module is None:
        return "gone"
    tests = _tests_of(number, module.relative_to(copy / "src" / "pabal"), reached)
    try:
        for some in [tests[:FIRST_TESTS], tests[FIRST_TESTS:MAX_TESTS]]:
            lines = _run(copy, "-n", "0", "-x", *some, limit_s=limit_s).splitlines() if some else []
            failed = [line for line in lines if line.startswith(("FAILED ", "ERROR "))]
            if failed:
                return f"caught: {failed[0].split(' - ')[0]}"
    except subprocess.TimeoutExpired:
        return f"no failure within {limit_s:.0f} s"
    finally:
        subprocess.run(["git", "checkout", "--quiet", "."], cwd=copy, check=True)
    return f"not caught by {len(tests[:MAX_TESTS])} tests"


def _tests_of(number: int, module: Path, reached: Path) -> list[str]:
    """Return the tests that enter the function of a fault: those of its package and name first, of many files."""
    lines = (line.split("\t") for line in reached.read_text(encoding="utf-8").splitlines())
    found = dict.fromkeys(test for one, test in lines if one == str(number) and "test_schemathesis" not in test)
    word = module.stem.partition("_")[0].rstrip("s")
    seen = Counter[str]()

    def rank(test: str) -> tuple[int, int]:
        file = test.partition("::")[0]
        seen[file] += 1
        is_near = test.startswith(f"tests/{module.parent}/") or word in Path(file).name
        return 0 if is_near else 1 if test.startswith(f"tests/{module.parts[0]}/") else 2, seen[file]

    return sorted(found, key=rank)


def _read_results(results: Path) -> dict[int, str]:
    lines = results.read_text(encoding="utf-8").splitlines() if results.exists() else []
    return {each["fault"]: each["outcome"] for each in map(json.loads, lines)}


def _run(copy: Path, *arguments: str, limit_s: float | None = None, **environment: str) -> str:
    done = subprocess.run(
        [*PYTEST, *arguments],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy / "src"), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=limit_s,
    )
    assert done.returncode != USAGE_ERROR, done.stdout  # a test that does not exist
    return done.stdout


@contextmanager
def _copy() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        subprocess.run(["git", "clone", "--quiet", "--shared", str(ROOT), str(copy)], check=True)
        (copy / ".venv").symlink_to(ROOT / ".venv")
        yield copy


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("step", choices=["reach", "catch"])
    parser.add_argument("--reached", type=Path, default=Path("reached.tsv"))
    parser.add_argument("--results", type=Path, default=Path("caught.jsonl"))
    parser.add_argument("--limit-s", type=float, default=240)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    if given.step == "reach":
        reach(given.reached.resolve(), given.workers)
    else:
        catch(given.reached.resolve(), given.results.resolve(), given.limit_s)
