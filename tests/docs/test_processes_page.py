"""Carries out the page about several processes: all of its commands together send a message."""

import contextlib
import re
import shlex
from pathlib import Path

import pytest

from tests.fixtures import postgres
from tests.fixtures.live import LiveService, run, serving, wait_until, working
from tests.fixtures.pages import blocks, section

SMS = {"content": "안녕하세요", "sender": "02-1234-5678", "receivers": [{"phoneNumber": "010-1234-5678"}]}


def commands(config: Path) -> list[list[str]]:
    """Return the words of the commands of the first block, for a settings file; the system chooses ports."""
    block, *_ = blocks(section("several-processes"))
    lines = re.sub(" --port [0-9]+", "", block).replace("pabal.toml", shlex.quote(str(config))).splitlines()
    return [shlex.split(line)[1:] for line in lines]


@pytest.mark.slow
def test_processes_of_the_page_accept_and_deliver_together(tmp_path: Path) -> None:
    config = tmp_path / "pabal.toml"
    config.write_text(f'store = "{postgres.empty_database()}"\n', encoding="utf-8")
    migrate, *others = commands(config)

    assert run(*migrate, data=tmp_path / "data").returncode == 0
    key = run("key", "create", "--account", "shop", "--config", str(config), data=tmp_path / "data").stdout.strip()
    with contextlib.ExitStack() as stack:
        processes: dict[str, list[LiveService]] = {"serve": [], "work": []}
        for number, (name, *words) in enumerate(others):
            start = {"serve": serving, "work": working}[name]
            processes[name].append(stack.enter_context(start(tmp_path / str(number), *words)))
        assert {name: len(found) for name, found in processes.items()} == {"serve": 2, "work": 2}
        sends, lists = (stack.enter_context(each.client(key)) for each in processes["serve"])

        assert sends.post("/api/message/sendSMS.v1.0", json=SMS).json()["result"] == "SUCCESS"
        wait_until(
            lambda: lists.post("/api/message/list.v1.0", json={"receivers": "010-1234-5678"}).json()["items"],
            lambda items: [each["sendingStatus"]["value"] for each in items] == ["completed"],
        )
        assert [each.stop() for found in processes.values() for each in found] == [0] * 4
