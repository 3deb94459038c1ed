"""Opt-outs in the store: hashes of numbers, found by index, kept when a number is erased."""

from pabal.domain.people.opt_out import AdReceiver, OptOutSource
from pabal.store.accounts import accounts
from pabal.store.engine.base import Tx
from pabal.store.people import opt_outs
from pabal.store.people.hash_keys import HashKeys
from pabal.store.people.opt_outs import NewOptOuts, OptOutEntry
from pabal.webhooks.secrets import SecretBox
from pabal.world import RealWorld
from tests.fixtures.rows import PHONE, ExplainingTx
from tests.fixtures.virtual import NOON

KEY = bytes(range(32))
OTHER_KEY = bytes(32)
KEYS = HashKeys(SecretBox((), RealWorld()))
SENDER = "0212345678"


def add(tx: Tx, account: int, *phones: str, sender: str = "", key: bytes = KEY) -> int:
    new = NewOptOuts(account, [OptOutEntry(phone, sender) for phone in phones], OptOutSource.API)
    return len(opt_outs.add(tx, KEYS, new, key, NOON))


def test_the_first_key_of_the_hashes_stays(tx: Tx) -> None:
    account = accounts.ensure_account(tx, "acme", NOON)

    assert add(tx, account, PHONE) == 1
    assert add(tx, account, PHONE, key=OTHER_KEY) == 0
    assert opt_outs.find(tx, KEYS, {AdReceiver(account, PHONE)}) == {AdReceiver(account, PHONE)}


def test_receivers_are_found_by_account_and_sender(tx: Tx) -> None:
    ours, theirs = (accounts.ensure_account(tx, name, NOON) for name in ("ours", "theirs"))
    add(tx, ours, PHONE)
    add(tx, theirs, PHONE, sender=SENDER)
    wanted = {
        AdReceiver(account, PHONE, sender) for account in (ours, theirs) for sender in ("", SENDER, "0299999999")
    }

    found = opt_outs.find(tx, KEYS, wanted)

    assert found == {each for each in wanted if each.account_id == ours} | {AdReceiver(theirs, PHONE, SENDER)}


def test_erased_number_keeps_its_hash_and_gets_its_number_back(tx: Tx) -> None:
    account = accounts.ensure_account(tx, "acme", NOON)
    add(tx, account, PHONE)

    opt_outs.erase(tx, KEYS, account, PHONE)

    assert tx.fetch_all("select phone, reason from opt_outs") == [(None, None)]
    assert opt_outs.find(tx, KEYS, {AdReceiver(account, PHONE)})
    assert opt_outs.list_page(tx, KEYS, account, None, None, 0, 10) == (0, [])
    assert add(tx, account, PHONE) == 0
    assert [each.phone for each in opt_outs.list_page(tx, KEYS, account, None, None, 0, 10)[1]] == [PHONE]


def test_opt_outs_are_found_by_index_in_one_query(tx: Tx) -> None:
    account = accounts.ensure_account(tx, "acme", NOON)
    add(tx, account, *(f"010{number:08}" for number in range(300)))
    explaining = ExplainingTx(tx)

    found = opt_outs.find(
        explaining, KEYS, {AdReceiver(account, f"010{number:08}") for number in range(0, 600, 20)}
    )

    assert len(found) == 15
    assert {sql.split(" where")[0] for _, sql in explaining.plans} == {
        "select value from hash_keys",
        "select hash, sender from opt_outs",
    }
    assert not [sql for _, sql in explaining.scans if "opt_outs" in sql]


def test_without_any_opt_out_only_the_key_is_looked_for(tx: Tx) -> None:
    explaining = ExplainingTx(tx)

    assert opt_outs.find(explaining, KEYS, {AdReceiver(1, PHONE)}) == set()
    assert opt_outs.find(explaining, KEYS, set()) == set()
    assert {sql.split(" where")[0] for _, sql in explaining.plans} == {"select value from hash_keys"}
