"""How much slower does an address book answer with a million contacts than with ten thousand?"""

import random
from collections.abc import Callable
from pathlib import Path
from statistics import median

from bench.browser import Browser, create_user
from bench.environment import Environment
from bench.figures import Figure
from bench.server import report_progress

ROUNDS = 1
MANY, FEW = 1_000_000, 10_000
ROWS_A_FILE = 100_000
PAGES, WARM_UP_PAGES = 100, 10
TARGET = 1.5
SUCCESS = 200
CONTACTS = "/console/contacts"
_FIRST = "김이박최정강조윤장임한오서신권황안송전홍"
_SECOND = "민서도하지은수예시윤주연준현우진선영경미"
_SYLLABLES = 400


def measure(env: Environment) -> list[Figure]:
    """Search both address books in the console, and a group of each, in turn."""
    many = env.scaled(MANY)
    few_ms, many_ms = (_measure_book(env, count) for count in (FEW, many))
    return [
        Figure(f"{name} among {many:,} / among {FEW:,} contacts", many_ms[name] / few_ms[name], "", "less", TARGET)
        for name in few_ms
    ] + [Figure(f"{name} among {many:,}", took_ms, " ms", "less") for name, took_ms in many_ms.items()]


def _measure_book(env: Environment, count: int) -> dict[str, float]:
    """Return how long each kind of search takes at the median, in milliseconds."""
    data = env.stored(f"book of {count}", lambda data: _fill(env, data, count))
    found: dict[str, float] = {}
    with env.run(data, "contacts") as server, Browser(server, (data / "password").read_text()) as browser:
        group = browser.get(CONTACTS).text.partition(f"{CONTACTS}?group=")[2].partition('"')[0]
        for number in range(WARM_UP_PAGES):
            browser.get(f"{CONTACTS}?q={_number(number)}")
        rng = random.Random(1)
        searches: dict[str, Callable[[], str]] = {
            "a number": lambda: f"q={_number(rng.randrange(FEW))}",
            "the beginning of a name": lambda: f"q={rng.choice(_FIRST)}",
            "the first page": lambda: "",
            "a name in a group": lambda: f"group={group}&q={rng.choice(_FIRST)}{rng.choice(_SECOND)}",
        }
        for name, query in searches.items():
            found[name] = median(browser.time(f"{CONTACTS}?{query()}") for _ in range(PAGES)) * 1000
    report_progress(f"  {count:,} contacts: " + ", ".join(f"{name} {ms:.1f} ms" for name, ms in found.items()))
    return found


def _fill(env: Environment, data: Path, count: int) -> None:
    """Import files of contacts, every second one into a group."""
    report_progress(f"  filling an address book with {count:,} contacts")
    (data / "password").write_text(create_user(env, data))
    with env.run(data, "contacts") as server, Browser(server, (data / "password").read_text()) as browser:
        for first in range(0, count, ROWS_A_FILE):
            numbers = range(first, min(first + ROWS_A_FILE, count))
            for rest, group in ((0, {"new_group": "group"}), (1, {})):
                file = "phone,name,등급\n" + "".join(_row(each) for each in numbers if each % 2 == rest)
                browser.submit(f"{CONTACTS}/file", {"known": "keep", **group}, file.encode(), SUCCESS)


def _row(number: int) -> str:
    """Return a contact; consecutive ones have numbers and names far from each other."""
    rng = random.Random(number)
    name = rng.choice(_FIRST) + rng.choice(_SECOND) + chr(0xAC00 + rng.randrange(_SYLLABLES))
    return f"{_number(number)},{name}{rng.randrange(1000)},일반\n"


def _number(number: int) -> str:
    return f"010{number * 7919 % 100_000_000:08}"
