"""Compares the clients' requests with the store: no message is lost, duplicated, stuck or invented."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import Any

from pabal.domain.base.identifiers import MESSAGE_ID_BYTES
from pabal.domain.sends.message import Status
from pabal.store.events import events
from tests.crash.clients import RequestLog
from tests.fixtures import status_checker

END_TIMEOUT_S = 120
"""How long no message may end until those that are left count as stuck: longer than pauses before retries here."""
POLL_INTERVAL_S = 0.05
REJECTED_RECEIVER = 1000000001
"""The receiver 010-0000-0001, whose messages the simulator rejects."""


async def wait_until_all_ended(
    data: Path, except_requests: Collection[str] = (), timeout_s: float = END_TIMEOUT_S
) -> None:
    """Return once no message waits or is in flight, except those of `except_requests`.

    Raises TimeoutError when none has ended for `timeout_s`.
    """
    with contextlib.closing(status_checker.connect(data)) as connection:
        async with asyncio.timeout(timeout_s) as limit:
            left = list_jobs(connection, except_requests)
            while left:
                await asyncio.sleep(POLL_INTERVAL_S)
                before, left = left, list_jobs(connection, except_requests)
                if before - left:
                    limit.reschedule(asyncio.get_running_loop().time() + timeout_s)


def list_jobs(connection: Any, except_requests: Collection[str]) -> set[str]:
    """Return the messages that have not ended, except those of some requests."""
    ids = (row[0].hex() for row in _fetch_all(connection, "select id from jobs"))
    return {each for each in ids if each[:26] not in except_requests}


def check_accounting(data: Path, log: RequestLog) -> None:
    """Check that every request was stored once, and that each message completed once, with the expected status."""
    assert not log.pending
    connection = status_checker.connect(data)
    stored: dict[str, int] = {
        row[0].hex(): row[1] for row in _fetch_all(connection, "select id, total from requests")
    }
    assert set(log.answered.values()) == set(stored), "exactly the answered requests are stored"
    assert len(set(log.answered.values())) == len(log.answered) == log.created, "one request for each key"
    messages = _fetch_all(connection, "select id, receiver, status from messages")
    assert len(messages) == sum(stored.values()), "one message for each receiver"
    wrong = [
        (message_id.hex(), status)
        for message_id, receiver, status in messages
        if status != _expected_status(message_id.hex()[:26] in log.cancelled, receiver).number
    ]
    assert wrong == [], "each has the expected status"
    assert _fetch_all(connection, "select count(*) from jobs") == [(0,)], "nothing is stuck"
    assert (
        _fetch_all(connection, "select id from status_changes where after >= 2 group by id having count(*) > 1")
        == []
    )
    assert _fetch_all(connection, "select * from status_changes where after <= before") == [], (
        "a final status does not change"
    )
    ends = Counter(_recorded_ends(connection))
    assert ends == Counter(bytes(row[0]) for row in messages), "each end is recorded once, to be told"
    sent = {
        message_id
        for message_id, receiver, _ in messages
        if message_id.hex()[:26] not in log.cancelled and receiver != REJECTED_RECEIVER
    }
    on_phones = [bytes(row[0]) for row in _fetch_all(connection, "select message_id from simulated_messages")]
    assert len(on_phones) == len(set(on_phones)), "no phone received a message twice"
    assert set(on_phones) == sent, "phones received exactly the messages to be sent"
    connection.close()


def _recorded_ends(connection: Any) -> list[bytes]:
    """Return the messages whose end is an event, whether it has its number already or not."""
    numbered = [bytes(row[0]) for row in _fetch_all(connection, "select id from events where type = 1")]
    waiting = b"".join(bytes(row[0]) for row in _fetch_all(connection, "select events from new_events"))
    size = events.PACKED.size
    return numbered + [waiting[begin : begin + MESSAGE_ID_BYTES] for begin in range(0, len(waiting), size)]


def _expected_status(is_cancelled: bool, receiver: int) -> Status:
    if is_cancelled:
        return Status.CANCEL
    return Status.FAIL if receiver == REJECTED_RECEIVER else Status.COMPLETED


def _fetch_all(connection: Any, statement: str) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = connection.execute(statement).fetchall()
    return found
