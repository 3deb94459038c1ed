"""Finds the accounts whose advertising somebody opts out of at a relay."""

from pabal.domain.base import identifiers
from pabal.store.accounts import numbers
from pabal.store.engine.base import Tx
from pabal.store.messages import inbound

MAX_MESSAGES = 100
"""How many of the newest messages of an account to a receiver are looked at."""


def find(tx: Tx, phone: str, opt_out_number: str, default_number: str) -> list[int]:
    """Return the accounts that have a number for opting out as their own, or have named it to a receiver.

    An advertisement names its own number, else that of its account, else the default.
    """
    found = []
    for account_id, own in tx.fetch_all("select id, opt_out_number from accounts order by id"):
        usual = own or default_number
        if own == opt_out_number or _has_named(tx, account_id, phone, opt_out_number, usual):
            found.append(int(account_id))
    return found


def find_by_sender(tx: Tx, phone: str, sender: str) -> list[int]:
    """Return the account that has registered a sender number, else those that have sent from it to a phone."""
    holder = numbers.get_holder(tx, sender)
    if holder:
        return [holder[0]]
    rows = tx.fetch_all("select id from accounts order by id")
    return [account_id for (account_id,) in rows if inbound.has_sent(tx, account_id, phone, sender)]


def _has_named(tx: Tx, account_id: int, phone: str, opt_out_number: str, usual: str) -> bool:
    rows = tx.fetch_all(
        "select id from messages where account_id = ? and receiver = ? order by id desc limit ?",
        (account_id, int(phone), MAX_MESSAGES),
    )
    of_requests = tx.execute_many(
        "select opt_out_number, is_ad from requests where id in ({list}) and id {within} and slot {same_slot}",
        [(one,) for one in {identifiers.request_id_of(row[0]) for row in rows}],
    )
    return any(is_ad and (number or usual) == opt_out_number for number, is_ad in of_requests)
