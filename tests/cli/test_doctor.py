"""`pabal doctor` finds what is wrong and says how to fix it."""

from pathlib import Path

import pytest

from pabal.app import process_lock
from pabal.settings.settings import load
from pabal.store import carrier_states, queue, webhook_posts, webhooks
from pabal.store.carrier_states import CarrierState
from pabal.store.engine.base import Tx
from pabal.store.engine.migrate import all_migrations
from pabal.store.webhook_posts import Delivery
from pabal.world import RealWorld
from tests.fixtures.cli import CommandLine
from tests.fixtures.virtual import NOON

WORLD = RealWorld()


def seen(new_command_line: CommandLine, state: CarrierState) -> None:
    """Keep a state of a carrier as a running service does."""
    new_command_line.run_in_context(lambda context: context.store.write(carrier_states.save, state))


def test_doctor_passes_a_good_installation(new_command_line: CommandLine) -> None:
    new_command_line("key", "create", "--account", "acme")

    found = new_command_line("doctor")

    assert found.status == 0
    assert "WRONG" not in found.out
    for said in (
        "is writable",
        "no service is running on it",
        "intact",
        "1 live keys",
        "every product has a route",
    ):
        assert said in found.out


def test_doctor_says_how_to_fix_what_is_wrong(new_command_line: CommandLine) -> None:
    new_command_line("migrate")
    found = new_command_line("doctor")
    assert found.status == 1
    assert "WRONG there is no live key\n      Create one: pabal key create --account NAME" in found.out


def test_doctor_accepts_an_empty_directory(new_command_line: CommandLine) -> None:
    found = new_command_line("doctor")

    assert found.status == 0
    assert f"ok    missing migrations: {all_migrations()[0].number:04} {all_migrations()[0].name}" in found.out


def test_doctor_reports_missing_migrations_if_starts_do_not_migrate(
    new_command_line: CommandLine, tmp_path: Path
) -> None:
    config = tmp_path / "pabal.toml"
    config.write_text("migrate = false")

    found = new_command_line("doctor", "--config", str(config))

    assert found.status == 1
    assert "WRONG missing migrations: 0001 first" in found.out
    assert "Run `pabal migrate`." in found.out


def test_doctor_reports_an_unreadable_store(new_command_line: CommandLine) -> None:
    new_command_line.data.mkdir()
    (new_command_line.data / "pabal.db").write_bytes(b"not a database at all" * 500)

    found = new_command_line("doctor")

    assert found.status == 1
    assert "WRONG the store" in found.out
    assert "Restore a backup." in found.out


def test_doctor_reports_an_unusable_data_directory(new_command_line: CommandLine) -> None:
    new_command_line.data.write_text("a file is no directory")

    found = new_command_line("doctor")

    assert found.status == 1
    assert f"WRONG the data directory {new_command_line.data} is not writable" in found.out


def test_doctor_reports_a_running_service(new_command_line: CommandLine) -> None:
    new_command_line("key", "create", "--account", "acme")
    with process_lock(load({}, data=new_command_line.data)):
        found = new_command_line("doctor")

    assert found.status == 0
    assert "a service is running on it" in found.out


def test_doctor_reports_messages_without_a_configured_carrier(new_command_line: CommandLine) -> None:
    new_command_line("key", "create", "--account", "acme")
    new_command_line.run_in_context(lambda context: context.store.write(queue.add, bytes(16), "gone", 0, 0))

    found = new_command_line("doctor")

    assert found.status == 1
    assert "WRONG 1 messages wait for the carrier gone, which is not configured" in found.out


@pytest.mark.parametrize(("state", "word"), [("down", "down"), ("aside", "failing (circuit open)")])
def test_doctor_says_which_carrier_fails_since_when_and_why(
    new_command_line: CommandLine, tmp_path: Path, state: str, word: str
) -> None:
    new_command_line("key", "create", "--account", "acme")
    config = tmp_path / "pabal.toml"
    config.write_text('zone = "Europe/Berlin"')
    for name in ("simulator", "gone"):  # the second is configured no more
        seen(new_command_line, CarrierState(name, state, NOON, "connection refused"))

    found = new_command_line("doctor", "--config", str(config))

    assert found.status == 1
    said = f"WRONG the carrier simulator has been {word} since 2026-11-15 04:00:00: connection refused\n"
    assert f"{said}      Its messages " in found.out
    assert "gone" not in found.out


def test_doctor_does_not_mention_a_working_carrier(new_command_line: CommandLine) -> None:
    new_command_line("key", "create", "--account", "acme")
    seen(new_command_line, CarrierState("simulator", "down", NOON, ""))
    assert new_command_line("doctor").status == 1

    seen(new_command_line, CarrierState("simulator", "up", NOON, ""))

    found = new_command_line("doctor")
    assert found.status == 0
    assert "WRONG" not in found.out


def test_doctor_reports_missing_routes_and_public_addresses(new_command_line: CommandLine, tmp_path: Path) -> None:
    new_command_line("key", "create", "--account", "acme")
    config = tmp_path / "pabal.toml"
    config.write_text('host = "0.0.0.0"\n[routes]\nsms = ["simulator"]')

    found = new_command_line("doctor", "--config", str(config))

    assert found.status == 0
    assert "no route for lms, mms, alimTalk" in found.out
    assert "reachable from other machines" in found.out


def test_doctor_reports_an_unusable_table_of_categories(new_command_line: CommandLine, tmp_path: Path) -> None:
    new_command_line("key", "create", "--account", "acme")
    (tmp_path / "bad.csv").write_text("code,name\n1,\n")
    config = tmp_path / "pabal.toml"
    config.write_text(f'sender_categories = "{tmp_path / "bad.csv"}"')

    found = new_command_line("doctor", "--config", str(config))

    assert found.status == 1
    assert "bad.csv: line 2" in found.out


def pause(tx: Tx, webhook_id: int, status: int | None, error: str) -> None:
    """Pause a webhook after a failed post."""
    webhooks.record_failure(tx, webhook_id, NOON)
    webhooks.pause(tx, webhook_id, NOON)
    failed = Delivery(webhook_id, NOON, bytes(16), [], 1, status, "", error, 5)
    webhook_posts.add_deliveries(tx, [failed])


def test_doctor_names_paused_webhooks_and_what_to_do(command_line: CommandLine) -> None:
    for name in ("acme", "two words", "gone"):
        command_line("key", "create", "--account", name)
        made = command_line(
            "webhook", "create", f"https://{name[:3]}.example/", "--account", name, "--event", "message.result"
        )
        assert made.status == 0, made.err
    sound = command_line("doctor")
    for webhook_id, status, error in ((1, 503, ""), (2, None, "tls: certificate has expired"), (3, 500, "")):
        command_line.run_in_store(pause, webhook_id, status, error)
    command_line("account", "disable", "gone")

    found = command_line("doctor")

    assert "is paused" not in sound.out
    assert found.status == 0
    since = "keeps failing since 2026-11-15 12:00:00"
    assert f"ok    the webhook 1 of acme is paused: https://acm.example/ {since} (HTTP 503)" in found.out
    assert f"https://two.example/ {since} (tls: certificate has expired)" in found.out
    assert "`pabal webhook test 2 --account 'two words'`" in found.out
    assert "gon.example" not in found.out
