"""Registers and removes sender numbers of accounts."""

from pabal.domain.codes import Code, Refused, Text
from pabal.store import accounts, audit_log
from pabal.store.audit_log import AuditEntry
from pabal.store.engine.base import Tx

MAX_SENDER_NUMBERS = 1000
"""Sender numbers an account can have."""


def register(tx: Tx, account_id: int, number: str, audit_entry: AuditEntry) -> None:
    """Register a sender number, with an audit entry.

    Raises Refused: DUPLICATE, or INVALID_PARAMETER where the account has too many.
    """
    accounts.lock(tx, account_id)
    if len(accounts.list_numbers_by_account(tx, account_id)) >= MAX_SENDER_NUMBERS:
        detail = Text(
            f"발신번호는 {MAX_SENDER_NUMBERS}개까지 등록할 수 있습니다.",
            f"An account can have at most {MAX_SENDER_NUMBERS} sender numbers.",
        )
        raise Refused(Code.INVALID_PARAMETER, "number", detail)
    if not accounts.add_number(tx, account_id, number, audit_entry.created_at):
        detail = Text("이미 등록된 번호입니다.", "The number is already registered.")
        raise Refused(Code.DUPLICATE, "number", detail)
    audit_log.add(tx, audit_entry)


def remove(tx: Tx, account_id: int, number: str, audit_entry: AuditEntry) -> None:
    """Remove a sender number, with an audit entry.

    Raises Refused(NOT_FOUND).
    """
    if not accounts.remove_number(tx, account_id, number):
        raise Refused(Code.NOT_FOUND, "number")
    audit_log.add(tx, audit_entry)
