"""The command line on PostgreSQL: the same words, and never a password."""

import os
import re
from pathlib import Path

import psycopg
import pytest

from pabal.cli.main import main
from pabal.store.engine.citus.distribution import DISTRIBUTED_TABLES
from tests.fixtures import citus, postgres
from tests.fixtures.live import run, serving

SECRET = "not-to-be-seen"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A file with the address of an empty database, a password in it."""
    file = tmp_path / "pabal.toml"
    file.write_text(f'store = "{with_password(postgres.empty_database())}"\n', encoding="utf-8")
    return file


def with_password(address: str) -> str:
    return address.replace("pabal@", f"pabal:{SECRET}@")


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Return what a command said, on either output; it never says the password."""
    main(words)
    text = "".join(capsys.readouterr())
    assert SECRET not in text
    return text


def test_key_is_created_and_listed(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = said(capsys, "key", "create", "--account", "acme", "--config", str(config))

    assert re.fullmatch(r"pb_[0-9A-Za-z]{40}\n", made)
    assert "acme" in said(capsys, "key", "list", "--config", str(config))
    assert said(capsys, "migrate", "--config", str(config)) == "the schema is up to date\n"


def test_look_up_makes_no_store_in_an_empty_database(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    address = postgres.create_database(f"without_tables_{os.getpid()}", "template1")
    config = tmp_path / "pabal.toml"
    config.write_text(f'store = "{with_password(address)}"\n', encoding="utf-8")

    told = said(capsys, "key", "list", "--config", str(config))

    assert "there is no store at postgresql://pabal:…@/" in told
    with psycopg.connect(address) as connection:
        assert connection.execute("select 1 from pg_tables where schemaname = 'public'").fetchall() == []
    postgres.drop_database(f"without_tables_{os.getpid()}")


def test_doctor_checks_the_database_and_server_settings(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = said(capsys, "doctor", "--config", str(config))

    assert "ok    the database postgresql://pabal:…@/worker_" in found
    assert "can be reached and its schema is up to date" in found
    assert "ok    workers: none running" in found
    assert "WRONG PostgreSQL has fsync = off" in found
    assert "WRONG there is no live key" in found
    assert "server_encoding" not in found


def test_unreachable_database_is_reported(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config.write_text(config.read_text(encoding="utf-8").replace("worker_", "absent_"), encoding="utf-8")

    assert "WRONG the database postgresql://pabal:…@/absent_" in said(capsys, "doctor", "--config", str(config))
    refused = said(capsys, "key", "list", "--config", str(config))
    assert re.fullmatch(r"pabal: the store is not available \(.*does not exist\); run `pabal doctor`\n", refused)


@pytest.mark.torture
@pytest.mark.slow
def test_processes_share_a_database_and_doctor_lists_the_workers(tmp_path: Path) -> None:
    store = with_password(postgres.empty_database())

    with (
        serving(tmp_path / "one", store=store) as first,
        serving(tmp_path / "two", "--no-deliver", store=store) as second,
        serving(tmp_path / "three", store=store) as third,
    ):
        found = run("doctor", data=tmp_path, store=store).stdout
        refused = run("cancel-after-restore", data=tmp_path, store=store)
        for live in (first, second, third):
            with live.client(first.key) as client:
                assert client.get("/readyz").status_code == 200
            assert live.stop() == 0
            assert SECRET not in live.log.read_text(encoding="utf-8")

    assert re.search(r"ok    workers: \S+:[0-9]+ \([0-9] slots\), \S+:[0-9]+ \([0-9] slots\)\n", found), found
    assert refused.returncode == 2
    assert "these workers are running: " in refused.stderr
    assert run("cancel-after-restore", data=tmp_path, store=store).returncode == 0
    assert "ok    workers: none running" in run("doctor", data=tmp_path, store=store).stdout
    assert not (tmp_path / "one").exists(), "nothing is kept there"


def test_migrate_citus_needs_the_extension(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    on_sqlite = said(capsys, "migrate", "--citus", "--data", str(tmp_path))
    without = said(capsys, "migrate", "--citus", "--config", str(config))

    assert on_sqlite.startswith("pabal: --citus needs a PostgreSQL database with Citus")
    assert without.startswith("pabal: the database has no Citus: run `create extension citus`")


if citus.is_available():  # else the summary says that it was not run

    @pytest.mark.slow
    def test_migrate_distributes_the_tables_of_a_coordinator_once(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        config = tmp_path / "pabal.toml"
        config.write_text(f'store = "{citus.create_database("by_hand")}"\n', encoding="utf-8")

        first = said(capsys, "migrate", "--citus", "--config", str(config))
        again = said(capsys, "migrate", "--citus", "--config", str(config))

        assert [line for line in first.splitlines() if line.startswith("distributed")] == [
            f"distributed {table}" for table in DISTRIBUTED_TABLES
        ]
        assert again == "the schema is up to date\n"
        citus.drop_database("by_hand")

    @pytest.mark.slow
    def test_doctor_names_every_node_and_the_one_that_is_lost(
        tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        address = citus.create_database("by_doctor")
        config = tmp_path / "pabal.toml"
        config.write_text(f'store = "{address}"\nslots = 8\n', encoding="utf-8")
        (_, (host, port), other) = citus.nodes()
        said(capsys, "migrate", "--citus", "--config", str(config))
        healthy = said(capsys, "doctor", "--config", str(config))

        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("update pg_dist_node set nodeport = 1 where nodeport = %s", (port,))
        lost = said(capsys, "doctor", "--config", str(config))
        refused = said(capsys, "migrate", "--citus", "--config", str(config))

        assert f"the node {host}:{port} can be reached (4 slots)" in healthy
        assert f"the node {other[0]}:{other[1]} can be reached (4 slots)" in healthy
        assert "Citus distributes 8 slots over 4 shards" in healthy
        assert f"the node {host}:1 cannot be reached" in lost
        assert "can be reached and its schema is up to date" in lost
        assert f"the node {host}:1 cannot be reached" in refused
        citus.drop_database("by_doctor")
