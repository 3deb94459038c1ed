"""The real process, killed under load again and again: nothing lost, nothing settled twice, nothing stuck."""

import asyncio
import os
from pathlib import Path
from random import Random

import apsw
import pytest

from pabal.domain.message import Status
from tests.crash.process import Running, Wishes, load, run_pabal, until_idle

ROUNDS = 20 if os.environ.get("PABAL_TORTURE") else 5
CLIENTS = 8
MOST_ANSWERS_BEFORE_THE_KILL = 150


@pytest.mark.slow
def test_nothing_is_lost_doubled_or_stuck_when_the_process_is_killed_under_load(tmp_path: Path) -> None:
    wishes = Wishes()

    asyncio.run(_kill_again_and_again(tmp_path, wishes, Random(4)))

    _reckon(tmp_path / "pabal.db", wishes)


async def _kill_again_and_again(data: Path, wishes: Wishes, dice: Random) -> None:
    await run_pabal("migrate", "--data", str(data))
    key = await run_pabal("key", "create", "--account", "acme", "--rate", "0", "--data", str(data))
    _watch_every_change(data / "pabal.db")
    for _ in range(ROUNDS):
        running = await Running.start(data)
        enough = len(wishes.answered) + dice.randint(20, MOST_ANSWERS_BEFORE_THE_KILL)
        clients = asyncio.create_task(load(running, key, wishes, CLIENTS))
        while len(wishes.answered) < enough:
            assert not clients.done(), clients.result()
            await asyncio.sleep(0)
        await running.kill()
        await clients
    running = await Running.start(data)
    await _answer_the_rest(running, key, wishes)
    await until_idle(running)
    assert await running.stop() == 0


async def _answer_the_rest(running: Running, key: str, wishes: Wishes) -> None:
    clients = asyncio.create_task(load(running, key, wishes, 0))
    await clients
    assert not wishes.open


def _watch_every_change(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(
        "create table witness (id blob, before integer, after integer);"
        "create trigger watch after update of status on messages when old.status <> new.status"
        " begin insert into witness values (old.id, old.status, new.status); end"
    )
    connection.close()


def _reckon(path: Path, wishes: Wishes) -> None:
    connection = apsw.Connection(str(path))
    kept = {row[0].hex(): row[1] for row in connection.execute("select id, total from requests")}
    assert set(wishes.answered.values()) == set(kept), "answered is kept, and nothing else is"
    assert len(set(wishes.answered.values())) == len(wishes.answered), "one request for each key"
    assert wishes.made == len(wishes.answered)
    messages = connection.execute("select count(*) from messages").fetchall()
    assert messages == [(sum(kept.values()),)], "a message for each receiver"
    assert connection.execute("select distinct status from messages").fetchall() == [(Status.COMPLETED.number,)]
    assert connection.execute("select count(*) from jobs").fetchall() == [(0,)]
    twice = connection.execute("select id from witness where after >= 2 group by id having count(*) > 1").fetchall()
    assert twice == []
    backwards = connection.execute("select * from witness where after <= before").fetchall()
    assert backwards == []
    on_phones = connection.execute("select count(*), count(distinct message_id) from simulated").fetchall()
    assert on_phones == [(sum(kept.values()), sum(kept.values()))], "on its phone once"
    connection.close()
