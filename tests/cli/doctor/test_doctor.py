"""`pabal doctor` finds what is wrong and says how to fix it."""

import os
import socket
from pathlib import Path

import apsw
import pytest

from pabal.cli.doctor.machine import check_disk, compare_clocks, explain_store
from pabal.domain.people.phone import NumberState
from pabal.settings.data_directory import process_lock
from pabal.settings.settings import load
from pabal.store.accounts import numbers
from pabal.store.engine.migrate import all_migrations
from pabal.store.queue import carriers, queue
from pabal.store.queue.carriers import CarrierState
from tests.fixtures.cli import CommandLine
from tests.fixtures.scripted_service import ScriptedAnswer, ScriptedService
from tests.fixtures.virtual import NOON


def seen(new_command_line: CommandLine, state: CarrierState) -> None:
    """Keep a state of a carrier as a running service does."""
    new_command_line.run_in_context(lambda context: context.store.write(carriers.save_state, state))


def test_doctor_passes_a_good_installation(command_line: CommandLine) -> None:
    found = command_line("doctor")

    assert found.status == 0
    assert "WRONG" not in found.out
    for said in (
        "is writable",
        "no service is running on it",
        "intact",
        "1 live key\n",
        "every product has a route",
    ):
        assert said in found.out


@pytest.mark.parametrize("has_directory", [True, False])
def test_doctor_makes_no_store(new_command_line: CommandLine, has_directory: bool) -> None:
    if has_directory:
        new_command_line.data.mkdir()

    found = new_command_line("doctor")

    assert found.status == 0
    assert f"note  there is no store at {new_command_line.store}\n      Give the --data and --config" in found.out
    assert new_command_line.data.exists() == has_directory
    assert not new_command_line.files()


@pytest.mark.parametrize(("setting", "level"), [("true", "note "), ("false", "WRONG")])
def test_doctor_reports_missing_migrations(new_command_line: CommandLine, setting: str, level: str) -> None:
    new_command_line.configure(f"migrate = {setting}")
    new_command_line.data.mkdir()
    new_command_line.store.touch()

    found = new_command_line("doctor")

    assert found.status == int(level == "WRONG")
    assert f"{level} missing migrations: {all_migrations()[0].number:04} {all_migrations()[0].name}" in found.out
    assert "`pabal migrate`." in found.out


def test_commands_that_doctor_advises_use_the_same_store(
    new_command_line: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    new_command_line("migrate")
    monkeypatch.setattr("sys.argv", ["pabal", "doctor", "--data", str(new_command_line.data), "--config=my file"])

    found = new_command_line("doctor")

    options = f"--data {new_command_line.data} --config 'my file'"
    assert f"Create one: `pabal key create --account NAME {options}`" in found.out


def test_doctor_reports_an_unreadable_store(new_command_line: CommandLine) -> None:
    new_command_line.data.mkdir()
    (new_command_line.data / "pabal.db").write_bytes(b"not a database at all" * 500)

    found = new_command_line("doctor")

    assert found.status == 1
    assert "WRONG the store" in found.out
    assert "Restore a backup." in found.out


def test_doctor_advises_no_backup_for_a_store_that_is_not_damaged(new_command_line: CommandLine) -> None:
    new_command_line.store.mkdir(parents=True)

    found = new_command_line("doctor")

    assert found.status == 1
    assert f"WRONG the store {new_command_line.store} cannot be read (CantOpenError)" in found.out
    assert "may read and write it" in found.out
    assert "Restore a backup" not in found.out


@pytest.mark.parametrize(
    ("error", "is_damaged"),
    [("NotADBError", True), ("CorruptError", True), ("BusyError", False), ("FullError", False), ("IOError", False)],
)
def test_backup_is_advised_only_for_a_damaged_file(error: str, is_damaged: bool) -> None:
    assert issubclass(getattr(apsw, error), apsw.Error)
    assert ("Restore a backup" in explain_store(error).en) == is_damaged


def test_disk_that_is_nearly_full_is_reported() -> None:
    assert not list(check_disk(1024**3))

    (found,) = check_disk(1024**3 - 1)

    assert (found.is_wrong, found.message.en) == (True, "its disk has only 1023 MiB free")


def test_doctor_reports_an_unusable_data_directory(new_command_line: CommandLine) -> None:
    new_command_line.data.write_text("a file is no directory")

    found = new_command_line("doctor")

    assert found.status == 1
    assert f"WRONG the data directory {new_command_line.data} is not writable" in found.out


@pytest.mark.parametrize(
    ("state", "quotas", "word", "remedy"),
    [
        ("down", "", "down", "Its messages wait."),
        ("aside", "", "failing (circuit open)", "Its messages go to the next carrier"),
        ("up", "", "working only in part", "Its messages of that part wait."),
        ("up", '{"texts_per_month": 1}', "working only in part", "It works again when the quota ends"),
    ],
)
def test_doctor_says_which_carrier_fails_since_when_and_why(
    command_line: CommandLine, state: str, quotas: str, word: str, remedy: str
) -> None:
    command_line.configure('zone = "Europe/Berlin"')
    for name in ("simulator", "gone"):  # the second is configured no more
        seen(command_line, CarrierState(name, state, NOON, "connection refused", quotas=quotas))

    found = command_line("doctor")

    assert found.status == 1
    said = f"WRONG the carrier simulator has been {word} since 2026-11-15 04:00:00: connection refused\n"
    assert f"{said}      {remedy}" in found.out
    assert "gone" not in found.out


def test_doctor_does_not_mention_a_working_carrier(command_line: CommandLine) -> None:
    seen(command_line, CarrierState("simulator", "down", NOON, ""))
    assert command_line("doctor").status == 1

    seen(command_line, CarrierState("simulator", "up", NOON, ""))

    found = command_line("doctor")
    assert found.status == 0
    assert "WRONG" not in found.out


@pytest.mark.parametrize(
    ("settings", "status", "said"),
    [
        ('host = "0.0.0.0"\n[routes]\nsms = ["simulator"]', 0, ["no route for lms, mms", "from other machines"]),
        (
            '[carriers.one]\nkind = "simulator"\n[carriers.two]\nkind = "simulator"\n[routes]\nsms = ["one"]',
            1,
            ["WRONG nothing is sent through two: no route names it", '[routes] sms = ["two"]'],
        ),
        ("check_sender_numbers = true", 1, ["WRONG no sender number is approved"]),
        ('check_sender_numbers = true\n[routes]\nalimTalk = ["simulator"]', 0, []),
        ("", 0, []),
    ],
    ids=["few routes and public", "carrier without a route", "no number", "no texts", "defaults"],
)
def test_doctor_reports_settings_that_stop_messages(
    command_line: CommandLine, settings: str, status: int, said: list[str]
) -> None:
    command_line.configure(settings)

    found = command_line("doctor")

    assert found.status == status
    assert [each for each in said if each not in found.out] == []
    assert ("no sender number is approved" in found.out) == ("no sender number is approved" in "".join(said))


def test_doctor_reports_an_unusable_table_of_categories(command_line: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("code,name\n1,\n")
    command_line.configure(f'sender_categories = "{tmp_path / "bad.csv"}"')

    found = command_line("doctor")

    assert found.status == 1
    assert "bad.csv: line 2" in found.out


def test_doctor_reports_due_messages_that_nothing_delivers(command_line: CommandLine) -> None:
    command_line.run_in_context(lambda context: context.store.write(queue.add, bytes(16), "simulator", 0, 0))

    found = command_line("doctor")

    assert found.status == 1
    assert "WRONG messages have been due since" in found.out
    assert "nothing delivers them\n      Start `pabal serve`." in found.out
    with process_lock(load({}, data=command_line.data)):
        assert "nothing delivers" not in command_line("doctor").out


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_doctor_names_the_owner_of_files_of_another_user(command_line: CommandLine) -> None:
    os.chown(command_line.store, 65534, -1)

    found = command_line("doctor")

    assert found.status == 1
    assert f"WRONG {command_line.store} belongs to the user nobody, but this command runs as root" in found.out
    assert f"chown -R root {command_line.data}" in found.out
    assert "Restore a backup" not in found.out


@pytest.mark.parametrize(
    ("body", "is_pabal"),
    [(b"<h1>It works!</h1>", False), (b'{"time":"","result":"SUCCESS","locale":"ko","status":"ok"}', True)],
)
def test_doctor_says_who_answers_at_the_port(
    command_line: CommandLine, monkeypatch: pytest.MonkeyPatch, body: bytes, is_pabal: bool
) -> None:
    with ScriptedService() as other:
        other.answers = [ScriptedAnswer(200, body)]
        port = other.base_url.rpartition(":")[2]
        monkeypatch.setenv("PABAL_PORT", port)
        found = command_line("doctor")
        with process_lock(load({}, data=command_line.data)):
            beside = command_line("doctor")

    assert "no service is running on it" in found.out
    assert "a service is running on it" in beside.out
    who = "a Pabal with other data answers" if is_pabal else "another program, not Pabal, answers"
    assert f"WRONG {who} at port {port} of 127.0.0.1" in found.out
    assert found.status == 1
    assert beside.status == (0 if is_pabal else 1)


def test_doctor_says_that_the_running_service_has_another_port(
    command_line: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        free = listener.getsockname()[1]
    monkeypatch.setenv("PABAL_PORT", str(free))
    alone = command_line("doctor")
    with process_lock(load({}, data=command_line.data)):
        beside = command_line("doctor")

    assert "nothing answers" not in alone.out
    assert f"nothing answers at port {free} of 127.0.0.1, though a service is running" in beside.out
    assert f"is set to listen on 127.0.0.1:{free}" in beside.out
    assert (alone.status, beside.status) == (0, 0)


@pytest.mark.parametrize(
    ("theirs", "said"),
    [(NOON, None), (NOON + 900, None), (NOON - 2500, "2.5 s ahead of"), (NOON + 61_000, "60.9 s behind")],
)
def test_clock_that_differs_from_that_of_the_database_is_reported(theirs: int, said: str | None) -> None:
    found = list(compare_clocks(NOON, theirs, NOON + 100))

    assert [finding.is_wrong for finding in found] == ([True] if said else [])
    assert not said or f"the clock of this machine is {said} that of the database" in found[0].message


def test_doctor_says_how_a_sender_number_becomes_approved(
    new_command_line: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PABAL_CHECK_SENDER_NUMBERS", "true")
    new_command_line("key", "create", "--account", "acme")
    without = new_command_line("doctor")
    new_command_line.run_in_store(numbers.add, 1, "15880000", 0, NumberState.PENDING)
    pending = new_command_line("doctor")
    new_command_line("number", "approve", "1588-0000", "--account", "acme")

    assert "`pabal number add NUMBER --account NAME`" in without.out
    assert "`pabal number approve NUMBER --account NAME`" in pending.out
    assert new_command_line("doctor").status == 0
