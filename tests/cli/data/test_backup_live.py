"""A backup of a service that is at work, restored and started: what was answered before is there, and ends."""

import asyncio
from pathlib import Path

import pytest

from tests.crash.clients import RequestLog, run_clients, wait_until_idle
from tests.fixtures import status_checker
from tests.fixtures.live import LiveService, command, run, serving

CLIENTS = 8
ANSWERS_BEFORE = 60


async def back_up_under_load(live: LiveService, file: Path, wishes: RequestLog) -> tuple[set[str], int, int]:
    """Return what was answered before the backup began, how many during it, and the backup's exit status."""
    clients = asyncio.create_task(run_clients(live.base_url, live.key, wishes, CLIENTS))
    while len(wishes.answered) < ANSWERS_BEFORE:
        assert not clients.done(), clients.result()
        await asyncio.sleep(0)
    before = set(wishes.answered.values())
    arguments = command("backup", str(file), data=live.data)
    process = await asyncio.create_subprocess_exec(*arguments["args"], env=arguments["env"])
    status = await process.wait()
    during = len(wishes.answered) - len(before)
    live.process.kill()
    await clients
    return before, during, status


@pytest.mark.torture
@pytest.mark.slow
def test_backup_under_load_contains_every_answered_request(tmp_path: Path) -> None:
    file, wishes = tmp_path / "backup.db", RequestLog()
    with serving(tmp_path / "data") as live:
        before, during, status = asyncio.run(back_up_under_load(live, file, wishes))

    restored = run("restore", str(file), "--due", "send", data=tmp_path / "new")
    with serving(tmp_path / "new") as live:
        asyncio.run(wait_until_idle(live.base_url))
        assert live.stop() == 0
    connection = status_checker.connect(tmp_path / "new")
    kept = {row[0].hex() for row in connection.execute("select id from requests")}
    ended = connection.execute("select status, count(*) from messages group by status").fetchall()
    connection.close()

    assert (status, restored.returncode) == (0, 0), restored.stderr
    assert during > 0, "it was accepting meanwhile"
    assert before <= kept
    assert [number for number, _ in ended] == [2], "all completed"
