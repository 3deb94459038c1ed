"""Stored accounts, their keys and their sender numbers."""

from ipaddress import ip_network

from pabal.store.accounts import accounts, numbers
from pabal.store.engine.base import Tx
from tests.fixtures.rows import ExplainingTx, present
from tests.fixtures.virtual import NOON


def add_key(tx: Tx, account: str = "acme", hash: bytes = b"hash", allow: str = "") -> int:
    owner = accounts.ensure_account(tx, account, NOON)
    return accounts.add_key(tx, owner, "first", hash, "send read", allow, 10, NOON, NOON + 1)


def test_account_is_created_once(tx: Tx) -> None:
    first = accounts.ensure_account(tx, "acme", NOON)

    assert accounts.ensure_account(tx, "acme", NOON + 1) == first
    assert accounts.ensure_account(tx, "other", NOON) != first
    assert [(each.name, each.created_at) for each in accounts.list_accounts(tx)] == [
        ("acme", NOON),
        ("other", NOON),
    ]


def test_key_is_read_as_stored(tx: Tx) -> None:
    added = add_key(tx, allow="10.0.0.0/8 ::1/128")

    key = present(accounts.key_by_hash(tx, b"hash"))

    assert (key.id, key.account_id, key.account, key.name, key.rate) == (added, 1, "acme", "first", 10)
    assert key.scopes == {"send", "read"}
    assert key.allow == (ip_network("10.0.0.0/8"), ip_network("::1/128"))
    assert (key.created_at, key.expires_at, key.revoked_at) == (NOON, NOON + 1, None)
    assert key.is_live
    assert accounts.list_keys(tx) == [key]


def test_key_is_revoked_once(tx: Tx) -> None:
    added = add_key(tx)

    assert accounts.revoke_key(tx, added, NOON + 5)
    assert not accounts.revoke_key(tx, added, NOON + 6)
    assert not accounts.revoke_key(tx, 999, NOON)

    key = present(accounts.key_by_hash(tx, b"hash"))
    assert (key.revoked_at, key.is_live) == (NOON + 5, False)


def test_keys_of_a_disabled_account_are_inactive_until_it_is_enabled(tx: Tx) -> None:
    add_key(tx)

    assert accounts.set_disabled(tx, "acme", NOON)
    assert not accounts.set_disabled(tx, "nobody", NOON)
    assert [key.is_live for key in accounts.list_keys(tx)] == [False]
    assert [each.disabled_at for each in accounts.list_accounts(tx)] == [NOON]

    accounts.set_disabled(tx, "acme", None)
    assert [key.is_live for key in accounts.list_keys(tx)] == [True]


def test_key_and_number_queries_use_an_index(tx: Tx) -> None:
    for number in range(50):
        add_key(tx, f"account{number}", f"{number}".encode())
    explaining = ExplainingTx(tx)

    accounts.key_by_hash(explaining, b"7")
    numbers.get_state(explaining, 1, "0212345678")
    numbers.get_holder(explaining, "0212345678")
    accounts.ensure_account(explaining, "account7", NOON)

    assert explaining.scans == []


def test_rate_of_a_key_is_changed_for_its_account_only(tx: Tx) -> None:
    first, second = add_key(tx), add_key(tx, hash=b"another")
    owner, other = (accounts.ensure_account(tx, name, NOON) for name in ("acme", "other"))

    assert not accounts.set_key_rate(tx, other, first, 9)
    assert accounts.set_key_rate(tx, owner, first, 9)
    accounts.revoke_key(tx, second, NOON)
    assert not accounts.set_key_rate(tx, owner, second, 9)
    assert [each.rate for each in accounts.list_keys_by_account(tx, owner)] == [9, 10]
