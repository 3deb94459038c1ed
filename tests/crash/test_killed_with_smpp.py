"""The service, killed while its SMPP window is full: messages in doubt are resent or held."""

import itertools
import os
from collections import Counter
from pathlib import Path

import httpx
import pytest

from pabal.domain.sends.message import Status
from tests.crash.test_smsc_killed import count_unsent, read_smsc_log, statuses, wait_for_all_receipts
from tests.fakes.smsc.peer import running_peer
from tests.fixtures.smpp_live import send, serve_with_smsc, wait_until

KILLS = 6 if os.environ.get("PABAL_TORTURE") else 1
WINDOW = 50
CAMPAIGN = 1000
SUBMITS_BEFORE_KILL = 400
ANSWER_AFTER_MS = 100
"""Long enough that messages are in flight whenever the service is killed, on a slow machine too."""


@pytest.mark.first_case
@pytest.mark.slow
@pytest.mark.parametrize("on_doubt", ["resend", "hold"])
def test_nothing_is_lost_when_killed_with_a_full_window(tmp_path: Path, on_doubt: str) -> None:
    log = tmp_path / "smsc.log"
    phones = (f"010-{number // 10_000:04}-{number % 10_000:04}" for number in itertools.count(20_000_000))
    key = ""
    with running_peer(log=str(log), answer_after_ms=ANSWER_AFTER_MS) as peer:
        for number in range(1, KILLS + 1):
            with serve_with_smsc(peer, tmp_path, window=WINDOW, on_doubt=on_doubt) as live:
                key = key or live.key
                with httpx.Client(base_url=live.base_url, headers={"apiKey": key}, timeout=30) as client:
                    send(client, "SMS", "파발이 달립니다", *itertools.islice(phones, CAMPAIGN))
                peer.wait_for_many("submit_sm", number * SUBMITS_BEFORE_KILL)
                live.process.kill()
                live.process.wait()
        with serve_with_smsc(peer, tmp_path, window=WINDOW, on_doubt=on_doubt) as live:
            wait_until(lambda: count_unsent(live), 0)
            wait_for_all_receipts(peer, log)
            assert live.stop() == 0

    status = statuses(tmp_path / "data" / "pabal.db")
    submits = Counter(int(each["destination"]) for each in read_smsc_log(log) if each["event"] == "submit_sm")
    assert len(status) == KILLS * CAMPAIGN
    assert set(submits) <= set(status)
    completed = {receiver for receiver, each in status.items() if each is Status.COMPLETED}
    held = {receiver for receiver, each in status.items() if each is Status.SENDING}
    assert completed | held == set(status)
    assert completed <= set(submits)
    twice = [receiver for receiver, times in submits.items() if times > 1]
    if on_doubt == "resend":
        assert not held
        assert 0 < len(twice) <= WINDOW * KILLS
    else:
        assert not twice
        assert 0 < len(held) <= WINDOW * KILLS
