"""`pabal key` creates, lists and revokes API keys."""

import base64
import json
import re

import pytest

from pabal.service.access.accounts.keys import hash_key
from pabal.store.accounts import accounts
from tests.fixtures.cli import CommandLine

KEY = re.compile(r"pb_[0-9A-Za-z]{40}\n")


def test_new_key_is_printed_alone_and_works(new_command_line: CommandLine) -> None:
    made = new_command_line("key", "create", "--account", "acme", "--name", "for the shop")

    assert made.status == 0
    assert KEY.fullmatch(made.out)
    known_key = new_command_line.run_in_context(
        lambda context: context.store.read(accounts.key_by_hash, hash_key(made.out.strip()))
    )
    assert (known_key.account, known_key.name, known_key.rate) == ("acme", "for the shop", 1000)
    assert known_key.scopes == {"send", "read", "manage"}


def test_a_key_can_be_limited(new_command_line: CommandLine) -> None:
    made = new_command_line(
        *("key", "create", "--account", "acme", "--expires", "2999-01-01", "--rate", "7"),
        *("--scope", "send", "--scope", "read", "--allow", "10.0.0.0/8", "--allow", "::1"),
    )

    assert made.status == 0
    ((_, name, _, scopes, allow, rate, _, used, state),) = new_command_line("key", "list").rows
    assert (name, scopes, allow, rate) == ("acme", "read,send", "10.0.0.0/8 ::1/128", "7/s")
    assert (used, state) == ("never used", "until 2999-01-02 00:00:00")
    assert made.out.strip() not in new_command_line("key", "list").out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--account", " "], "--account: must not be empty"),
        (["--account", "acme", "--allow", "10.0.0.1/8"], "--allow 10.0.0.1/8"),
        (["--account", "acme", "--allow", "home"], "--allow home"),
        (["--account", "acme", "--rate", "-1"], "--rate: must be 0 or more"),
        (["--account", "acme", "--expires", "2020-01-01"], "--expires: must be in the future"),
        (["--account", "acme", "--expires", "2999-01-01~"], "--expires: must be in the future"),
        (["--account", "acme", "--expires", "tomorrow"], "Write it as yyyy-MM-dd HH:mm"),
        (["--account", "acme", "--scope", "everything"], "invalid choice"),
        (["--account", "acme", "--rate", "fast"], "invalid int value"),
        ([], "--account"),
    ],
)
def test_invalid_key_is_not_created(new_command_line: CommandLine, words: list[str], said: str) -> None:
    refused = new_command_line("key", "create", *words)

    assert refused.status in (1, 2)
    assert said in refused.err
    assert refused.out == ""
    assert new_command_line("key", "list").out == ""


def test_account_has_at_most_so_many_keys(command_line: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PABAL_KEYS_PER_ACCOUNT", "2")
    made = [command_line("key", "create", "--account", "acme").status for _ in range(3)]
    refused = command_line("key", "create", "--account", "acme")
    other = command_line("key", "create", "--account", "other", "--new-account")

    assert 1 in made
    assert (refused.status, refused.out) == (1, "")
    assert "An account can have at most 2 API keys (keys_per_account)." in refused.err
    assert other.status == 0


def test_typing_error_creates_no_account(command_line: CommandLine) -> None:
    mistyped = command_line("key", "create", "--account", "acmee")
    user = command_line("user", "create", "kim", "--account", "shop")
    twice = command_line("key", "create", "--account", "acme", "--new-account")

    assert (mistyped.status, user.status, twice.status) == (2, 2, 2)
    assert mistyped.err == ("pabal: there is no account 'acmee'; did you mean acme? --new-account creates it\n")
    assert "already" in twice.err
    assert [row[1] for row in command_line("account", "list").rows] == ["acme"]
    assert len(command_line("key", "list").rows) == 1
    assert command_line("user", "list").rows == []


def test_revoked_key_is_listed_and_cannot_be_revoked_again(command_line: CommandLine) -> None:
    assert command_line("key", "revoke", "1").status == 0
    assert command_line("key", "list").rows[0][-1] == "revoked"
    again = command_line("key", "revoke", "1")
    assert again.status == 2
    assert "pabal key list" in again.err


NHN = ("key", "create", "--account", "acme", "--kind", "nhncloud")
SOLAPI = ("key", "create", "--account", "acme", "--kind", "solapi")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--id", "APPKEY"), "go with --kind"),
        (("--without-secret",), "go with --kind"),
        ((*SOLAPI[4:], "--id", "APIKEY"), "give --id and --secret"),
        ((*SOLAPI[4:], "--without-secret"), "give --id and --secret"),
        ((*NHN[4:], "--without-secret", "--id", "APPKEY"), "leave out --id and --secret"),
        ((*NHN[4:], "--id", "APP KEY", "--secret", "12345678"), "4 to 128 letters"),
        ((*NHN[4:], "--id", "APPKEY", "--secret", "1234567"), "8 to 128 printable"),
    ],
)
def test_ids_and_secrets_go_with_a_kind(command_line: CommandLine, words: tuple[str, ...], said: str) -> None:
    refused = command_line("key", "create", "--account", "acme", *words)

    assert refused.status != 0
    assert said in refused.err
    assert len(command_line("key", "list").rows) == 1


def test_keys_for_programs_of_nhn_cloud_are_chosen_or_made(command_line: CommandLine) -> None:
    chosen = command_line(*NHN, "--id", "APPKEY", "--secret", "12345678")
    twice = command_line(*NHN, "--id", "APPKEY", "--secret", "12345678")
    made, secretless = command_line(*NHN), command_line(*NHN, "--without-secret")

    assert (chosen.out, twice.status != 0) == ("APPKEY\n", True)
    assert re.fullmatch(r"([0-9A-Za-z]{24}\n){2}", made.out)
    assert re.fullmatch(r"[0-9A-Za-z]{24}\n", secretless.out)
    assert len(command_line("key", "list").rows) == 4


COMPAT = ("key", "create", "--account", "acme", "--kind", "solapi")
COMPAT_SECRET = "a-secret-that-programs-have"


def test_key_of_a_relays_programs_is_listed_with_its_id(command_line: CommandLine) -> None:
    command_line.configure(f'secret_key = ["{base64.b64encode(bytes(32)).decode()}"]\n')
    made = [command_line(*COMPAT, "--id", each, "--secret", COMPAT_SECRET) for each in ("KEY-ONE", "KEY-TWO")]
    again = command_line(*COMPAT, "--id", "KEY-TWO", "--secret", COMPAT_SECRET)
    command_line("key", "revoke", "2")
    listed = command_line("key", "list")
    as_json = [json.loads(line) for line in command_line("key", "list", "--json").out.splitlines()]

    assert [each.out.strip() for each in made] == ["KEY-ONE", "KEY-TWO"]
    assert (again.status, again.out) == (1, "")
    assert [row[8:] for row in listed.rows] == [
        ["live"],
        ["revoked", "solapi", "KEY-ONE"],
        ["live", "solapi", "KEY-TWO"],
    ]
    assert [(each["kind"], each["publicId"]) for each in as_json][:2] == [(None, None), ("solapi", "KEY-ONE")]
    assert COMPAT_SECRET not in listed.out


def test_key_that_signs_needs_a_secret_key(command_line: CommandLine) -> None:
    refused = command_line(*COMPAT, "--id", "KEY-ONE", "--secret", COMPAT_SECRET)

    assert (refused.status, "secret_key" in refused.err) == (1, True)
    assert len(command_line("key", "list").rows) == 1
