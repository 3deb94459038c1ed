"""Reckons up what was asked for against what became of it: nothing lost, doubled, stuck or made up."""

import asyncio
import contextlib
from collections.abc import Collection
from pathlib import Path
from typing import Any

from pabal.domain.message import Status
from tests.crash.clients import RequestLog
from tests.fixtures import status_checker

END_TIMEOUT_S = 90
POLL_S = 0.05
REJECTED_RECEIVER = 1000000001
"""The receiver 010-0000-0001: its messages never reach a phone."""


async def wait_until_all_ended(
    data: Path, except_requests: Collection[str] = (), timeout_s: float = END_TIMEOUT_S
) -> None:
    """Return once no message waits or is on its way, but those of these requests."""
    with contextlib.closing(status_checker.connect(data)) as connection:
        async with asyncio.timeout(timeout_s):
            while True:
                if {row[0].hex()[:26] for row in _fetch_all(connection, "select id from jobs")} <= set(
                    except_requests
                ):
                    return
                await asyncio.sleep(POLL_S)


def check_accounting(data: Path, log: RequestLog) -> None:
    """See that every wish became one request, and each of its messages ended once, as it had to."""
    assert not log.pending
    connection = status_checker.connect(data)
    kept: dict[str, int] = {
        row[0].hex(): row[1] for row in _fetch_all(connection, "select id, total from requests")
    }
    assert set(log.answered.values()) == set(kept), "answered is kept, and nothing else is"
    assert len(set(log.answered.values())) == len(log.answered) == log.created, "one request for each key"
    messages = _fetch_all(connection, "select id, receiver, status from messages")
    assert len(messages) == sum(kept.values()), "a message for each receiver"
    wrong = [
        (one.hex(), status)
        for one, receiver, status in messages
        if status != _expected_status(one.hex()[:26] in log.cancelled, receiver).number
    ]
    assert wrong == [], "each ended as it had to"
    assert _fetch_all(connection, "select count(*) from jobs") == [(0,)], "nothing is stuck"
    assert _fetch_all(connection, "select id from witness where after >= 2 group by id having count(*) > 1") == []
    assert _fetch_all(connection, "select * from witness where after <= before") == [], "final is final"
    sent = {
        one
        for one, receiver, _ in messages
        if one.hex()[:26] not in log.cancelled and receiver != REJECTED_RECEIVER
    }
    on_phones = [bytes(row[0]) for row in _fetch_all(connection, "select message_id from simulated_messages")]
    assert len(on_phones) == len(set(on_phones)), "on its phone once"
    assert set(on_phones) == sent, "on a phone is what was to be sent, and nothing else"
    connection.close()


def _expected_status(is_cancelled: bool, receiver: int) -> Status:
    if is_cancelled:
        return Status.CANCEL
    return Status.FAIL if receiver == REJECTED_RECEIVER else Status.COMPLETED


def _fetch_all(connection: Any, statement: str) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = connection.execute(statement).fetchall()
    return found
