"""How much slower an address book answers with a million contacts than with ten thousand, on both engines."""

import random
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from bench.database import PostgresEnvironment, postgres_environment
from bench.figures import Figure, format_ms, median_of
from bench.fill import WORLD, with_store
from bench.server import BenchEnvironment, report_progress
from pabal.domain.people.contact import ContactEntry, parse_search
from pabal.store.engine.base import Store, Tx
from pabal.store.people import contact_groups, contacts
from pabal.store.people.contacts import Place

TARGET = 1.5
MANY, FEW = 1_000_000, 10_000
GROUP_SHARE = 2
"""One contact in so many is in the group."""
BATCH = 5000
PAGE = 50
BLOCK = 1000
"""Contacts that a send to a group reads at a time."""
LOOKUPS = 300
ACCOUNT = 1
_FIRST = "김이박최정강조윤장임한오서신권황안송전홍"
_SECOND = "민서도하지은수예시윤주연준현우진선영경미"
_SYLLABLES = 400

Look = Callable[[Tx, random.Random], object]


def measure(env: BenchEnvironment) -> list[Figure]:
    """Search both address books, and read from a group of each, in SQLite and in PostgreSQL."""
    figures = _measure(env, "SQLite")
    with postgres_environment(env) as postgres:
        return figures + _measure(postgres, "PostgreSQL")


def _measure(env: BenchEnvironment, engine: str) -> list[Figure]:
    many, few = env.copy_store(), env.copy_store()
    for data, count in ((many, MANY), (few, FEW)):
        report_progress(f"  filling an address book of {engine} with {count:,} contacts")
        with_store(data, _filling(count), is_durable=False)
        if isinstance(env, PostgresEnvironment):
            with env.connect(data) as connection:
                connection.execute("vacuum analyze")  # as autovacuum does within a minute
    found = []
    for name, look in LOOKS.items():
        in_few, in_many = _time(few, FEW, look), _time(many, MANY, look)
        details = f"{format_ms(in_many)} and {format_ms(in_few)}"
        report_progress(f"  {name}, {engine}: {details}")
        what = f"{name} among 1,000,000 / among 10,000 contacts, {engine}"
        ratio = median_of(in_many) / median_of(in_few)
        found.append(Figure("contacts", what, ratio, target=TARGET, bound="at most", details=details))
    return found


def _filling(count: int) -> Callable[[Store], Awaitable[None]]:
    async def work(store: Store) -> None:
        group = await store.write(contact_groups.add, ACCOUNT, "group", WORLD.now())
        assert group is not None
        for first in range(0, count, BATCH):
            await store.write(_save, group, first, min(BATCH, count - first))

    return work


def _save(tx: Tx, group: int, first: int, count: int) -> None:
    entries = [_contact(number) for number in range(first, first + count)]
    saved = contacts.save_all(tx, ACCOUNT, entries, WORLD.now(), updates=False)
    contact_groups.add_members(tx, ACCOUNT, group, [one for one in saved.ids.values() if one % GROUP_SHARE == 0])


def _contact(number: int) -> ContactEntry:
    """Return a contact; consecutive ones have numbers and names far from each other."""
    rng = random.Random(number)
    name = rng.choice(_FIRST) + rng.choice(_SECOND) + chr(0xAC00 + rng.randrange(_SYLLABLES))
    return ContactEntry(_phone(number), f"{name}{rng.randrange(1000)}", {"등급": "일반", "지점": "서울"})


def _phone(number: int) -> str:
    return f"010{number * 7919 % 100_000_000:08}"


def _time(data: Path, count: int, look: Look) -> list[float]:
    async def work(store: Store) -> list[float]:
        found: list[float] = []
        for number in range(LOOKUPS):
            began = time.perf_counter()
            await store.read(look, random.Random(number * count))
            found.append(time.perf_counter() - began)
        return found

    return with_store(data, work)


def _by_number(tx: Tx, rng: random.Random) -> object:
    return contacts.search(tx, ACCOUNT, parse_search(_phone(rng.randrange(FEW))), None, Place(), PAGE)


def _by_tail(tx: Tx, rng: random.Random) -> object:
    """Search for one only: of a million a hundred have the same last digits, of ten thousand one."""
    return contacts.search(tx, ACCOUNT, parse_search(f"{rng.randrange(10_000):04}"), None, Place(), 1)


def _by_name(tx: Tx, rng: random.Random) -> object:
    return contacts.search(tx, ACCOUNT, parse_search(rng.choice(_FIRST)), None, Place(), PAGE)


def _first_page(tx: Tx, rng: random.Random) -> object:
    return contacts.search(tx, ACCOUNT, parse_search(""), None, Place(), PAGE)


def _name_in_group(tx: Tx, rng: random.Random) -> object:
    group = contact_groups.list_all(tx, ACCOUNT)[0]
    wanted = parse_search(rng.choice(_FIRST) + rng.choice(_SECOND))
    return contacts.search(tx, ACCOUNT, wanted, (group.id, group.contacts), Place(), PAGE)


def _block_of_group(tx: Tx, rng: random.Random) -> object:
    group = contact_groups.list_all(tx, ACCOUNT)[0]
    after = rng.randrange(group.contacts) * GROUP_SHARE - BLOCK * GROUP_SHARE
    return contacts.list_after(tx, ACCOUNT, [group.id], max(0, after), BLOCK)


LOOKS: dict[str, Look] = {
    "a number": _by_number,
    "the last digits of a number": _by_tail,
    "the beginning of a name": _by_name,
    "the first page": _first_page,
    "a name in a group": _name_in_group,
    "1,000 receivers of a group": _block_of_group,
}
