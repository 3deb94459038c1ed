"""The key of the hashes of opt-outs in the store: encrypted if a key is set for that, and opened once."""

import pytest

from pabal.domain.people.opt_out import AdReceiver, OptOutSource
from pabal.store.accounts import accounts
from pabal.store.engine.base import Tx
from pabal.store.people import hash_keys, opt_outs
from pabal.store.people.hash_keys import HashKeys
from pabal.store.people.opt_outs import NewOptOuts, OptOutEntry
from pabal.webhooks.secrets import PLAIN, SecretBox, UnreadableSecret
from pabal.world import RealWorld
from tests.fixtures.rows import PHONE, present
from tests.fixtures.virtual import NOON

KEY = bytes(range(32))
OTHER = "01087654321"


class CountingBox(SecretBox):
    """A box that counts what it opens."""

    opened = 0

    def open(self, stored: bytes, context: str) -> bytes:
        self.opened += 1
        return super().open(stored, context)


def box(*keys: bytes) -> CountingBox:
    return CountingBox(keys, RealWorld())


def opt_out(tx: Tx, keys: HashKeys, *phones: str) -> int:
    account = accounts.ensure_account(tx, "acme", NOON)
    opt_outs.add(tx, keys, NewOptOuts(account, [OptOutEntry(each) for each in phones], OptOutSource.API), KEY, NOON)
    return account


def stored(tx: Tx) -> bytes:
    return present(hash_keys.get_stored(tx))


def test_without_a_key_of_the_operator_it_is_stored_as_it_is(tx: Tx) -> None:
    opt_out(tx, HashKeys(box()), PHONE)

    assert stored(tx) == PLAIN + KEY


def test_with_a_key_of_the_operator_it_is_encrypted(tx: Tx) -> None:
    account = opt_out(tx, HashKeys(box(b"a" * 32)), PHONE)

    assert KEY not in stored(tx)
    other_process = HashKeys(box(b"b" * 32, b"a" * 32))
    assert opt_outs.find(tx, other_process, {AdReceiver(account, PHONE)})
    with pytest.raises(UnreadableSecret):
        opt_outs.find(tx, HashKeys(box(b"b" * 32)), {AdReceiver(account, PHONE)})


def test_it_is_decrypted_once_and_again_when_it_has_changed(tx: Tx) -> None:
    both = box(b"b" * 32, b"a" * 32)
    account, keys = opt_out(tx, HashKeys(box(b"a" * 32)), PHONE), HashKeys(both)
    for _ in range(3):
        assert opt_outs.find(tx, keys, {AdReceiver(account, PHONE)})
    before, opened = stored(tx), both.opened

    assert hash_keys.replace(tx, before, keys.seal_again(before))
    assert not hash_keys.replace(tx, before, PLAIN)

    assert opened == 1
    assert opt_outs.find(tx, HashKeys(box(b"b" * 32)), {AdReceiver(account, PHONE)})
    assert opt_outs.find(tx, keys, {AdReceiver(account, PHONE)})


def test_all_numbers_are_hashed_again_if_the_key_is_lost(tx: Tx) -> None:
    account = opt_out(tx, HashKeys(box(b"a" * 32)), PHONE, OTHER)
    opt_outs.erase(tx, HashKeys(box(b"a" * 32)), account, OTHER)
    keys = HashKeys(box(b"b" * 32))

    done = opt_outs.hash_again(tx, bytes(32), keys.seal(bytes(32)))

    assert done == (1, 1)
    assert opt_outs.find(tx, keys, {AdReceiver(account, PHONE), AdReceiver(account, OTHER)}) == {
        AdReceiver(account, PHONE)
    }
