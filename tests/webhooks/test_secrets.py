"""Secrets are encrypted in the store with the operator's key."""

import pytest

from pabal.webhooks.secrets import SecretBox, UnreadableSecret
from pabal.world import RealWorld

OLD, NEW = bytes(range(32)), bytes(range(1, 33))
SECRET = b"a secret of thirty-two bytes 012"
WORLD = RealWorld()


def test_secret_is_encrypted_and_decrypted() -> None:
    box = SecretBox([NEW], WORLD)

    stored = box.seal(SECRET, "webhook 1")

    assert box.open(stored, "webhook 1") == SECRET
    assert SECRET not in stored
    assert box.has_key


def test_equal_secrets_are_stored_differently() -> None:
    box = SecretBox([NEW], WORLD)

    assert box.seal(SECRET, "webhook 1") != box.seal(SECRET, "webhook 1")


def test_without_a_key_secrets_are_stored_as_they_are() -> None:
    box = SecretBox([], WORLD)

    stored = box.seal(SECRET, "webhook 1")

    assert stored[1:] == SECRET
    assert box.open(stored, "webhook 1") == SECRET
    assert not box.has_key
    assert box.is_current(stored)


def test_secret_stored_before_there_was_a_key_stays_readable() -> None:
    stored = SecretBox([], WORLD).seal(SECRET, "webhook 1")
    box = SecretBox([NEW], WORLD)

    assert box.open(stored, "webhook 1") == SECRET
    assert not box.is_current(stored)


def test_old_key_decrypts_and_new_key_encrypts() -> None:
    stored = SecretBox([OLD], WORLD).seal(SECRET, "webhook 1")
    both = SecretBox([NEW, OLD], WORLD)

    assert both.open(stored, "webhook 1") == SECRET
    assert not both.is_current(stored)
    assert both.is_current(both.seal(SECRET, "webhook 1"))
    assert SecretBox([NEW], WORLD).open(both.seal(SECRET, "webhook 1"), "webhook 1") == SECRET


@pytest.mark.parametrize("keys", [[], [NEW]])
def test_secret_of_an_unknown_key_is_unreadable(keys: list[bytes]) -> None:
    stored = SecretBox([OLD], WORLD).seal(SECRET, "webhook 1")

    with pytest.raises(UnreadableSecret, match="secret_key"):
        SecretBox(keys, WORLD).open(stored, "webhook 1")


def test_secret_of_another_owner_is_unreadable() -> None:
    box = SecretBox([NEW], WORLD)

    with pytest.raises(UnreadableSecret):
        box.open(box.seal(SECRET, "webhook 1"), "webhook 2")


def test_changed_or_cut_secret_is_unreadable() -> None:
    box = SecretBox([NEW], WORLD)
    stored = box.seal(SECRET, "webhook 1")

    for position in range(1, len(stored)):
        changed = stored[:position] + bytes([stored[position] ^ 1]) + stored[position + 1 :]
        with pytest.raises(UnreadableSecret):
            box.open(changed, "webhook 1")
    for length in range(len(stored)):
        with pytest.raises(UnreadableSecret):
            box.open(stored[:length], "webhook 1")
