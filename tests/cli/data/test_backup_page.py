"""The commands of docs/how-to/backup.md, run as they are written but for the places they name."""

import asyncio
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crash.clients import wait_until_idle
from tests.fixtures import postgres
from tests.fixtures.live import serving
from tests.fixtures.pages import lines, section

BODY = {"content": "안녕하세요", "sender": "02-123-4567", "receivers": [{"phoneNumber": "010-1234-5678"}]}


def commands(heading: str) -> list[str]:
    """Return the commands of a section of the page."""
    return lines(section("backup", heading))


def carry_out(command: str, places: dict[str, str], folder: Path, **environment: str) -> str:
    """Run one command where its places are, and return what it said."""
    for place in sorted(places, key=len, reverse=True):
        command = command.replace(place, shlex.quote(places[place]))
    words = [sys.executable, "-m", "pabal.cli"] if command.startswith(".venv/bin/pabal ") else []
    words += shlex.split(command)[1:] if words else shlex.split(command)
    ours = {name: value for name, value in os.environ.items() if not name.startswith("PABAL_")}
    path = f"{postgres.binaries()}:{ours['PATH']}"
    done = subprocess.run(
        words,
        env=ours | environment | {"PATH": path},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.mark.slow
def test_sqlite_commands_of_the_backup_guide_work(tmp_path: Path) -> None:
    data, folder = tmp_path / "data", tmp_path / "backup"
    folder.mkdir()
    places = {"/var/lib/pabal": str(data), "/backup": str(folder)}
    (back_up,), (restore,) = commands("SQLite: back up"), commands("SQLite: restore")

    with serving(data) as live, live.client() as client:
        client.post("/api/message/sendSMS.v1.0", json=BODY)
        said = carry_out(back_up, places, tmp_path)
        client.post("/api/message/sendSMS.v1.0", json=BODY)
        key = live.key
        assert live.stop() == 0
    assert "and verified it" in said
    assert "the previous store is" in carry_out(restore, places, tmp_path)
    with serving(data) as live, live.client(key) as client:
        found = client.post("/api/message/list.v1.0", json={"receivers": "010-1234-5678"}).json()

    assert found["totalCount"] == 1


@pytest.mark.slow
def test_dump_commands_of_the_backup_guide_work(tmp_path: Path) -> None:
    store, restored = postgres.create_database("pabal"), postgres.server().address("pabal_restored")
    config = tmp_path / "pabal.toml"
    config.write_text(f'store = "{restored}"\n', encoding="utf-8")
    places = {
        "postgresql://pabal@db.example/pabal_restored": restored,
        "postgresql://pabal@db.example/pabal": store,
        "/backup": str(tmp_path),
        "pabal.toml": str(config),
    }
    umask, *all_others = commands("PostgreSQL: a dump")
    dump = all_others.pop(0)

    with serving(tmp_path / "data", store=store) as live, live.client() as client:
        client.post("/api/message/sendSMS.v1.0", json=BODY)
        asyncio.run(wait_until_idle(live.base_url))
        key = live.key
        carry_out(dump, places, tmp_path)
        assert live.stop() == 0
    said = [
        carry_out(each, places, tmp_path, PGHOST=str(postgres.server().folder), PGUSER="pabal")
        for each in all_others
    ]
    with serving(tmp_path / "data", store=restored) as live, live.client(key) as client:
        found = client.post("/api/message/list.v1.0", json={"receivers": "010-1234-5678"}).json()
        assert live.stop() == 0
    postgres.drop_database("pabal")
    postgres.drop_database("pabal_restored")

    assert umask == "umask 077"
    assert said[2] == "the schema is up to date\n"
    assert said[3].startswith("0 messages may have been sent since the backup (newest request: ")
    assert found["totalCount"] == 1
