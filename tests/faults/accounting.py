"""Reckons up what was asked for against what became of it: nothing lost, doubled, stuck or made up."""

import asyncio
import contextlib
from collections.abc import Collection
from pathlib import Path
from typing import Any

from pabal.domain.message import Status
from tests.crash.clients import Wishes
from tests.fixtures import status_checker

END_WITHIN_S = 90
POLL_S = 0.05
REFUSED_BY_THE_CARRIER = 1000000001
"""The receiver 010-0000-0001: its messages never reach a phone."""


async def until_all_ended(data: Path, but: Collection[str] = (), within_s: float = END_WITHIN_S) -> None:
    """Return once no message waits or is on its way, but those of these requests."""
    with contextlib.closing(status_checker.looking_at(data)) as connection:
        async with asyncio.timeout(within_s):
            while True:
                if {row[0].hex()[:26] for row in _all(connection, "select id from jobs")} <= set(but):
                    return
                await asyncio.sleep(POLL_S)


def reckon(data: Path, wishes: Wishes) -> None:
    """See that every wish became one request, and each of its messages ended once, as it had to."""
    assert not wishes.open
    connection = status_checker.looking_at(data)
    kept: dict[str, int] = {row[0].hex(): row[1] for row in _all(connection, "select id, total from requests")}
    assert set(wishes.answered.values()) == set(kept), "answered is kept, and nothing else is"
    assert len(set(wishes.answered.values())) == len(wishes.answered) == wishes.made, "one request for each key"
    messages = _all(connection, "select id, receiver, status from messages")
    assert len(messages) == sum(kept.values()), "a message for each receiver"
    wrong = [
        (one.hex(), status)
        for one, receiver, status in messages
        if status != _end(one.hex()[:26] in wishes.cancelled, receiver).number
    ]
    assert wrong == [], "each ended as it had to"
    assert _all(connection, "select count(*) from jobs") == [(0,)], "nothing is stuck"
    assert _all(connection, "select id from witness where after >= 2 group by id having count(*) > 1") == []
    assert _all(connection, "select * from witness where after <= before") == [], "final is final"
    sent = {
        one
        for one, receiver, _ in messages
        if one.hex()[:26] not in wishes.cancelled and receiver != REFUSED_BY_THE_CARRIER
    }
    on_phones = [bytes(row[0]) for row in _all(connection, "select message_id from simulated")]
    assert len(on_phones) == len(set(on_phones)), "on its phone once"
    assert set(on_phones) == sent, "on a phone is what was to be sent, and nothing else"
    connection.close()


def _end(is_cancelled: bool, receiver: int) -> Status:
    if is_cancelled:
        return Status.CANCEL
    return Status.FAIL if receiver == REFUSED_BY_THE_CARRIER else Status.COMPLETED


def _all(connection: Any, statement: str) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = connection.execute(statement).fetchall()
    return found
