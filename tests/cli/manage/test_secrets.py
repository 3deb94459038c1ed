"""`pabal secrets`: the key that encrypts secrets in the store."""

import pytest

from pabal.settings.settings import load
from pabal.webhooks.secrets import PLAIN
from tests.fixtures.cli import CommandLine

PHONE, OTHER = "010-1234-5678", "010-8765-4321"


def test_new_key_is_one_that_the_setting_accepts(new_command_line: CommandLine) -> None:
    first, second = (new_command_line("secrets", "new-key").out.strip() for _ in range(2))

    assert len(load({"PABAL_SECRET_KEY": first}).read_secret_keys()[0]) == 32
    assert first != second
    assert new_command_line.files() == set()


def test_key_of_the_opt_outs_is_encrypted_and_replaced(
    command_line: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = command_line
    line("key", "create", "--account", "acme")
    keys = [line("secrets", "new-key").out.strip() for _ in range(2)]
    line("opt-out", "add", PHONE, "--account", "acme")
    plain, reminded = stored_key(line), line("doctor")
    monkeypatch.setenv("PABAL_SECRET_KEY", keys[0])
    old = line("doctor")
    encrypted, first = line("secrets", "rotate"), stored_key(line)
    monkeypatch.setenv("PABAL_SECRET_KEY", f"{keys[1]} {keys[0]}")
    rotated = line("secrets", "rotate")
    monkeypatch.setenv("PABAL_SECRET_KEY", keys[1])
    good = line("doctor")
    again = line("opt-out", "add", PHONE, "--account", "acme")

    assert plain.startswith(PLAIN)
    assert "note  the key of the opt-outs is stored without encryption" in reminded.out
    assert "note  the key of the opt-outs is stored with an old key, or without one" in old.out
    assert "the key of the opt-outs is encrypted with the current key\n" in encrypted.out
    assert plain[1:] not in first
    assert rotated.status == 0
    assert "key of the opt-outs" not in good.out
    assert again.out == "0 of 1 numbers added\n"


def test_service_does_not_start_without_the_key_of_the_opt_outs(
    command_line: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = command_line
    line("key", "create", "--account", "acme")
    monkeypatch.setenv("PABAL_SECRET_KEY", line("secrets", "new-key").out.strip())
    line("opt-out", "add", PHONE, OTHER, "--account", "acme")
    line("privacy", "erase", OTHER, "--account", "acme")
    unneeded = line("secrets", "rebuild-opt-outs")
    monkeypatch.setenv("PABAL_SECRET_KEY", line("secrets", "new-key").out.strip())

    started, doctor = line("serve", "--port", "0"), line("doctor")
    removed, rotated = line("opt-out", "remove", PHONE, "--account", "acme"), line("secrets", "rotate")
    rebuilt = line("secrets", "rebuild-opt-outs")
    listed = line("opt-out", "remove", PHONE, "--account", "acme")

    assert (unneeded.status, "nothing was changed" in unneeded.err) == (2, True)
    assert (started.status, "secret_key: the opt-outs were stored with a key" in started.err) == (2, True)
    assert (doctor.status, "WRONG the key of the opt-outs cannot be decrypted" in doctor.out) == (1, True)
    assert (removed.status, "a secret in the store cannot be read" in removed.err) == (2, True)
    assert (rotated.status, "the key of the opt-outs cannot be decrypted" in rotated.out) == (1, True)
    assert rebuilt.out == "1 opt-outs hashed with a new key; 1 whose number had been erased are gone\n"
    assert listed.out == "1 of 1 numbers removed\n"


def stored_key(line: CommandLine) -> bytes:
    """Return the key of the opt-outs as it is stored."""
    return bytes(line.run_in_store(lambda tx: tx.fetch_all("select value from hash_keys"))[0][0])
