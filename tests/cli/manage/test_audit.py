"""Every command that changes something is in the audit log, with the user of the system who ran it."""

import os
import pwd
from pathlib import Path

import pytest

from pabal.settings.environment import choose_language, get_user_name
from pabal.store.accounts import audit_log
from tests.fixtures.cli import CommandLine, add_template_under_review

ME = f"command line: {pwd.getpwuid(os.getuid()).pw_name}"


def entries(command_line: CommandLine) -> list[tuple[str, str, str]]:
    """Return actor, action and target of all entries, oldest first."""
    found = command_line.run_in_store(audit_log.find, None, "", None, 100)
    return [(each.entry.actor, each.entry.action, each.entry.target) for each in reversed(found)]


@pytest.fixture(autouse=True)
def _not_through_sudo(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SUDO_USER", raising=False)


def test_keys_and_accounts_are_audited(command_line: CommandLine) -> None:
    command_line("key", "revoke", "1")
    command_line("key", "revoke", "1")
    command_line("account", "disable", "acme")
    command_line("account", "enable", "acme")
    command_line("user", "create", "kim", "--account", "shop", "--new-account")

    assert entries(command_line) == [
        (ME, "account.create", ""),
        (ME, "key.create", "1"),
        (ME, "key.revoke", "1"),
        (ME, "account.disable", ""),
        (ME, "account.enable", ""),
        (ME, "account.create", ""),
        (ME, "user.create", "kim"),
    ]


def test_profiles_and_templates_are_audited(command_line: CommandLine) -> None:
    command_line.run_in_context(add_template_under_review)
    command_line("template", "approve", "1")
    command_line("profile", "disable", "1")
    command_line("profile", "enable", "1")
    command_line("profile", "enable", "9")

    assert entries(command_line)[2:] == [
        (ME, "template.approve", "order"),
        (ME, "profile.disable", "@shop"),
        (ME, "profile.enable", "@shop"),
    ]


def test_commands_on_the_whole_store_are_audited(command_line: CommandLine, tmp_path: Path) -> None:
    file = tmp_path / "backup.db"
    command_line("carrier", "cancel", "gone")
    command_line("backup", file)
    command_line("restore", file)
    command_line("cancel-after-restore", "--check")
    command_line("cancel-after-restore")

    assert entries(command_line)[2:] == [
        (ME, "carrier.cancel", "gone"),
        (ME, "store.restore", "backup.db"),
        (ME, "store.cancel_due", ""),
    ]


def test_migration_by_command_is_audited(new_command_line: CommandLine) -> None:
    new_command_line("migrate")
    new_command_line("migrate")

    assert [(actor, action) for actor, action, _ in entries(new_command_line)] == [(ME, "store.migrate")]


def test_filter_by_command_line_finds_entries_of_all_users(command_line: CommandLine) -> None:
    found = command_line.run_in_store(audit_log.find, None, audit_log.COMMAND_LINE_NAME, None, 10)

    assert len(found) == 2
    assert command_line.run_in_store(audit_log.find, None, ME, None, 10) == found


def test_user_behind_sudo_is_named() -> None:
    assert get_user_name({}) == ME.removeprefix("command line: ")
    if os.getuid() == 0:
        assert get_user_name({"SUDO_USER": "kim"}) == "kim"


@pytest.mark.parametrize(
    ("variables", "language"),
    [
        ({}, "en"),
        ({"LANG": "ko_KR.UTF-8"}, "ko"),
        ({"LANG": "ko_KR.UTF-8", "LC_MESSAGES": "en_US.UTF-8"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_ALL": "ko_KR"}, "ko"),
        ({"LC_ALL": "", "LANG": "ko"}, "ko"),
    ],
)
def test_language_follows_the_locale(variables: dict[str, str], language: str) -> None:
    assert choose_language(variables) == language
