"""A third-party receiver of webhooks, killed while it gets results: all arrive, signed, each once by its id."""

import os
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from pabal.webhooks.poster import SECRET_PREFIX
from tests.crash.announcements import count_failed_tries, create_webhook, ended_messages, webhook_settings
from tests.fakes.smsc.peer import PeerEvent
from tests.fakes.webhooks.receiver import Receiver, running_receiver
from tests.fixtures import postgres
from tests.fixtures.engines import ENGINES
from tests.fixtures.live import LiveService, prepare_store, serving, wait_until

REQUEST_RECEIVERS = 1000
ARRIVAL_TIMEOUT_S = 600.0
"""Longer than the first three pauses before a retry."""


@pytest.mark.torture
@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_results_arrive_though_the_receiver_is_killed(engine: str, tmp_path: Path) -> None:
    check_waves(engine, tmp_path, kills=1, results=300)


@pytest.mark.torture
@pytest.mark.parametrize("engine", ENGINES)
def test_ten_thousand_results_arrive_though_the_receiver_is_killed_three_times(engine: str, tmp_path: Path) -> None:
    check_waves(engine, tmp_path, kills=3, results=10_002)


def check_waves(engine: str, folder: Path, kills: int, results: int) -> None:
    """Send in waves, kill the receiver in the middle of each, and compare what it got with the store."""
    if engine == "postgresql":
        database = postgres.create_database(f"receiver_killed_{os.getpid()}")
        (folder / postgres.ADDRESS_FILE).write_text(database, encoding="utf-8")
    data = folder / "data"
    key = prepare_store(data)
    arrivals = Arrivals()
    with running_receiver(secret=SECRET_PREFIX) as receiver:
        receiver.change(secret=create_webhook(data, receiver.port))
        with serving(data, **webhook_settings(receiver.port)) as live:
            for number in range(kills):
                posts = len(receiver.events("post"))
                send(live, key, results // kills // 2)
                receiver.wait_for_many("post", posts + 1)
                receiver.kill()
                failed = count_failed_tries(data)
                send(live, key, results // kills - results // kills // 2)
                wait_until(lambda: count_failed_tries(data), failed.__lt__)
                receiver.start()
                arrivals.wait(receiver, results // kills * (number + 1))
            assert live.stop() == 0

    assert receiver.events("refused") == [], "a signature was not verified"
    check_arrived(receiver, data, results)


def send(live: LiveService, key: str, messages: int) -> None:
    """Send so many messages, in requests that are as large as possible."""
    with live.client(key) as client:
        for begin in range(0, messages, REQUEST_RECEIVERS):
            count = min(REQUEST_RECEIVERS, messages - begin)
            body = {
                "content": "알림",
                "sender": "02-123-4567",
                "receivers": [{"phoneNumber": f"010-2000-{number:04}"} for number in range(count)],
            }
            client.post("/api/message/sendSMS.v1.0", json=body).raise_for_status()


class Arrivals:
    """Which events have arrived; each post is looked at once."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._since = 0

    def wait(self, receiver: Receiver, count: int) -> None:
        """Return once so many different events have arrived."""

        def is_last(event: PeerEvent) -> bool:
            self._since += 1
            self._ids.update(event.get("eventIds", ()))
            return len(self._ids) >= count

        receiver.wait_for(is_last, ARRIVAL_TIMEOUT_S, since=self._since)


def check_arrived(receiver: Receiver, data: Path, results: int) -> None:
    """Check that every end arrived, in one post if repeated ones are recognized by their id."""
    ended = {f"evt_{message_id}" for message_id in ended_messages(data)}
    assert len(ended) == results
    by_post: dict[str, set[tuple[str, ...]]] = defaultdict(set)
    for post in receiver.events("post"):
        by_post[post["id"]].add(tuple(post["eventIds"]))
    assert all(len(contents) == 1 for contents in by_post.values()), "a repeated post differs"
    found = Counter(event_id for (ids,) in by_post.values() for event_id in ids)
    assert found == Counter(ended)
