"""Registers, approves, rejects and removes sender numbers of accounts."""

from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.people.phone import NumberState
from pabal.store.accounts import accounts, audit_log, numbers
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.accounts.numbers import SenderNumber
from pabal.store.engine.base import Tx

MAX_SENDER_NUMBERS = 1000
"""Sender numbers an account can have."""
MAX_PENDING_NUMBERS = 50
"""Sender numbers of an account that can wait for an operator."""
MAX_COMMENT_CHARACTERS = 200
ALREADY_REGISTERED = Text("이미 등록된 번호입니다.", "The number is already registered.")


def request(tx: Tx, account_id: int, number: str, is_trusted: bool, audit_entry: AuditEntry) -> NumberState:
    """Register a sender number as its account's owner; return whether it is approved or pending.

    It is approved if owners are trusted and no other account has it; else an operator has to approve it. What the
    owner sees does not say why.
    Raises Refused: DUPLICATE, or INVALID_PARAMETER where the account has too many.
    """
    present = _check_new(tx, account_id, number)
    state = NumberState.APPROVED if is_trusted and numbers.get_holder(tx, number) is None else NumberState.PENDING
    pending = sum(each.state is NumberState.PENDING for each in present)
    if state is NumberState.PENDING and pending >= MAX_PENDING_NUMBERS:
        detail = Text(
            f"승인을 기다리는 발신번호는 {MAX_PENDING_NUMBERS}개까지 등록할 수 있습니다.",
            f"At most {MAX_PENDING_NUMBERS} sender numbers of an account can be pending.",
        )
        raise Refused(Code.INVALID_PARAMETER, "number", detail)
    numbers.add(tx, account_id, number, audit_entry.created_at, state)
    is_approved = state is NumberState.APPROVED
    audit_log.add(tx, audit_entry._replace(action="number.add" if is_approved else "number.request"))
    return state


def register(tx: Tx, account_id: int, number: str, audit_entry: AuditEntry) -> bool:
    """Register a sender number as an operator: it is approved at once; return whether it was not before.

    Raises Refused: DUPLICATE where another account has it, INVALID_PARAMETER where there are too many.
    """
    found = numbers.get(tx, account_id, number)
    if found and found.state is NumberState.APPROVED:
        return False
    if found:
        approve(tx, account_id, number, audit_entry._replace(action="number.approve"))
        return True
    _check_new(tx, account_id, number)
    _check_free(tx, account_id, number)
    numbers.add(tx, account_id, number, audit_entry.created_at)
    audit_log.add(tx, audit_entry)
    return True


def approve(tx: Tx, account_id: int, number: str, audit_entry: AuditEntry) -> None:
    """Approve a pending or rejected sender number.

    Raises Refused: NOT_FOUND, INVALID_STATE where it is approved already, DUPLICATE where another account has it.
    """
    found = _find(tx, account_id, number)
    if found.state is NumberState.APPROVED:
        raise _wrong_state(found)
    _check_free(tx, account_id, number)
    numbers.set_state(tx, found, NumberState.APPROVED)
    audit_log.add(tx, audit_entry)


def reject(tx: Tx, account_id: int, number: str, comment: str, audit_entry: AuditEntry) -> None:
    """Reject a pending sender number; the owner sees the comment.

    Raises Refused: NOT_FOUND, INVALID_STATE where it is not pending, INVALID_PARAMETER for a long comment.
    """
    if len(comment) > MAX_COMMENT_CHARACTERS:
        limit = MAX_COMMENT_CHARACTERS
        detail = Text(f"{limit}자 이하여야 합니다.", f"At most {limit} characters.")
        raise Refused(Code.INVALID_PARAMETER, "comment", detail)
    found = _find(tx, account_id, number)
    if found.state is not NumberState.PENDING:
        raise _wrong_state(found)
    numbers.set_state(tx, found, NumberState.REJECTED, comment)
    audit_log.add(tx, audit_entry)


def _wrong_state(found: SenderNumber) -> Refused:
    label = found.state.label
    return Refused(Code.INVALID_STATE, "number", Text(f"현재 상태: {label.ko}.", f"Current state: {label.en}."))


def remove(tx: Tx, account_id: int, number: str, audit_entry: AuditEntry) -> None:
    """Remove a sender number, with an audit entry.

    Raises Refused(NOT_FOUND).
    """
    if not numbers.remove(tx, account_id, number):
        raise Refused(Code.NOT_FOUND, "number")
    audit_log.add(tx, audit_entry)


def _find(tx: Tx, account_id: int, number: str) -> SenderNumber:
    found = numbers.get(tx, account_id, number)
    if found is None:
        raise Refused(Code.NOT_FOUND, "number")
    return found


def _check_new(tx: Tx, account_id: int, number: str) -> list[SenderNumber]:
    """Return the account's numbers, where another one may be added."""
    accounts.lock(tx, account_id)
    present = numbers.list_by_account(tx, account_id)
    if any(each.number == number for each in present):
        raise Refused(Code.DUPLICATE, "number", ALREADY_REGISTERED)
    if len(present) >= MAX_SENDER_NUMBERS:
        detail = Text(
            f"발신번호는 {MAX_SENDER_NUMBERS}개까지 등록할 수 있습니다.",
            f"An account can have at most {MAX_SENDER_NUMBERS} sender numbers.",
        )
        raise Refused(Code.INVALID_PARAMETER, "number", detail)
    return present


def _check_free(tx: Tx, account_id: int, number: str) -> None:
    """Refuse a number that another account has; only operators may see this."""
    holder = numbers.get_holder(tx, number)
    if holder is not None and holder[0] != account_id:
        detail = Text(
            f"{holder[1]} 계정이 쓰는 번호입니다. 먼저 그 계정에서 삭제하세요.",
            f"Account {holder[1]} has this number. Remove it there first.",
        )
        raise Refused(Code.DUPLICATE, "number", detail)
