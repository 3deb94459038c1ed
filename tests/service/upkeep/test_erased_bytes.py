"""What is erased is not readable in the files of the embedded store either."""

import re
from pathlib import Path

from pabal.domain.base.dates import DAY
from pabal.domain.sends.message import Product
from pabal.domain.sends.sending import Receiver
from pabal.service.upkeep.housekeeping import run_round
from pabal.store.engine.sqlite import sqlite_backup
from tests.fixtures.engines import sqlite_only
from tests.fixtures.service import Start, sms
from tests.fixtures.virtual import NOON, VirtualWorld

REQUESTS = 60
RECEIVERS = 20
WORD = "카나리아"
FIRST_NUMBER = 1_077_000_000
"""Receivers are stored as integers of four bytes, big-endian."""


def canary_texts(number: int) -> list[str]:
    return [f"{WORD}{kind}{number:04}" for kind in ("본문", "제목", "변수", "글", "참조")]


def found_in(folder: Path) -> list[bytes]:
    """Return the canaries that are readable in any file of a folder."""
    everything = b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())
    low, high = (each.to_bytes(4, "big") for each in (FIRST_NUMBER, FIRST_NUMBER + REQUESTS * RECEIVERS))
    starts = re.escape(FIRST_NUMBER.to_bytes(4, "big")[:2])
    numbers = re.findall(starts + rb"..", everything, re.DOTALL)
    return [*re.findall(WORD.encode() + rb".{10}", everything, re.DOTALL), *(n for n in numbers if low <= n < high)]


@sqlite_only
async def test_nothing_erased_is_readable_in_the_files(start: Start, tmp_path: Path) -> None:
    env = await start()
    for number in range(REQUESTS):
        content, subject, value, own, reference = canary_texts(number)
        receivers = [
            Receiver(
                f"0{FIRST_NUMBER + number * RECEIVERS + each}",
                (value * 3,),
                own * 20 if each % 7 == 0 else None,
                reference,
            )
            for each in range(RECEIVERS)
        ]
        await env.send(
            sms(
                product=Product.LMS,
                content=f"{content} " * (90 if number % 9 == 0 else 3),  # some need pages of their own
                subject=subject,
                variables=("name",),
                receivers=receivers,
            ),
        )
    await env.wait(30)
    assert len(found_in(tmp_path)) > REQUESTS * RECEIVERS

    env = await start(world=VirtualWorld(1, NOON + 181 * DAY))
    await env.wait(1)
    await run_round(env.context)
    assert found_in(tmp_path) == []
    assert await env.store.read(lambda tx: tx.fetch_all("pragma integrity_check")) == [("ok",)]
    copy = tmp_path / "backup.db"
    with sqlite_backup.verified_copy(tmp_path / "pabal.db", copy, lambda done, total: None) as part:
        sqlite_backup.install(part, copy)
    assert found_in(tmp_path) == []
