"""The service, killed during calls to a Solapi that loses answers: no message is lost, duplicated or stuck."""

import asyncio
import itertools
from pathlib import Path
from typing import Any

import pytest

from tests.crash.test_killed_with_nhncloud import (
    CAMPAIGN,
    check_results,
    open_channel,
    send_all,
    wait_until_all_ended,
)
from tests.fakes.solapi import subprocess_server
from tests.fixtures.live import prepare_store, serving

SINGLES = 10
MESSAGES = 2 * (CAMPAIGN + SINGLES)
SENDS_BEFORE_KILL = 300
FAULTS: tuple[dict[str, Any], ...] = (
    {"kind": "lose answer", "passed": 1},
    {"kind": "system error accepted"},
    {"kind": "lose request"},
)


@pytest.mark.slow
def test_nothing_is_lost_or_duplicated_when_killed_during_calls_to_solapi(tmp_path: Path) -> None:
    data, config = tmp_path / "data", tmp_path / "pabal.toml"
    key = prepare_store(data)
    asyncio.run(open_channel(data))
    phones = (f"010-{number // 10_000:04}-{number % 10_000:04}" for number in itertools.count(20_000_000))

    with subprocess_server.running() as relay:
        settings = relay.settings(poll_seconds=1, doubt_seconds=10, timeout_seconds=5)
        config.write_text(f"check_sender_numbers = false\n{settings}", "utf-8")
        with serving(data, config=config, key_rate=0) as live:
            relay.stats(faults=[{**fault, "on": "send-many"} for fault in FAULTS])
            sent = asyncio.run(send_all(live.base_url, key, phones, campaigns=1, singles=SINGLES))
            relay.wait_until_accepted(SENDS_BEFORE_KILL)
            live.process.kill()
            live.process.wait()
        with serving(data, config=config, key_rate=0) as live:
            asyncio.run(wait_until_all_ended(live.base_url))
            assert live.stop() == 0
        seen = relay.stats(includes_keys=True)

    assert check_results(data, sent, MESSAGES, seen), "some were in doubt"
