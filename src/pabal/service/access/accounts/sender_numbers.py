"""The sender numbers of accounts, from registration to removal, and their numbers for opting out."""

from pabal.domain.base.codes import Code, Refused, Text, at_most_characters, current_state, require
from pabal.domain.people.phone import NumberState
from pabal.service.context import Context
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
    found = require(numbers.get(tx, account_id, number), field="number")
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
        raise Refused(Code.INVALID_PARAMETER, "comment", at_most_characters(MAX_COMMENT_CHARACTERS))
    found = require(numbers.get(tx, account_id, number), field="number")
    if found.state is not NumberState.PENDING:
        raise _wrong_state(found)
    numbers.set_state(tx, found, NumberState.REJECTED, comment)
    audit_log.add(tx, audit_entry)


def _wrong_state(found: SenderNumber) -> Refused:
    return Refused(Code.INVALID_STATE, "number", current_state(found.state.label))


def remove(tx: Tx, account_id: int, number: str, audit_entry: AuditEntry) -> None:
    """Remove a sender number, with an audit entry.

    Raises Refused(NOT_FOUND).
    """
    if not numbers.remove(tx, account_id, number):
        raise Refused(Code.NOT_FOUND, "number")
    audit_log.add(tx, audit_entry)


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


MAX_LISTED = 200
"""Pending numbers that are shown at once."""


async def list_numbers(context: Context, account_id: int) -> list[SenderNumber]:
    """Return the numbers of an account, in any state."""
    return await context.store.read(numbers.list_by_account, account_id)


async def list_pending(context: Context) -> list[SenderNumber]:
    """Return the oldest numbers of all accounts that wait for an operator."""
    return await context.store.read(numbers.list_pending, MAX_LISTED)


async def list_usable(context: Context, account_id: int) -> list[str]:
    """Return the sender numbers that an account may use; where all may be used, those that are pending too."""
    usable = {NumberState.APPROVED} if context.policy.checks_sender_numbers else set(NumberState)
    return [
        each.number
        for each in await context.store.read(numbers.list_by_account, account_id)
        if each.state in usable
    ]


async def has_number(context: Context, account_id: int, number: str) -> bool:
    """Return whether an account has a number, in any state."""
    return await context.store.read(numbers.get, account_id, number) is not None


async def request_number(context: Context, account_id: int, number: str, audit_entry: AuditEntry) -> NumberState:
    """Register a number as an owner; return whether it is approved or pending.

    Raises Refused: DUPLICATE, or INVALID_PARAMETER where the account has too many.
    """
    is_trusted = context.policy.trusts_own_numbers
    return await context.store.write(request, account_id, number, is_trusted, audit_entry)


async def register_number(context: Context, account_id: int, number: str, audit_entry: AuditEntry) -> None:
    """Register a number for an account, as an operator.

    Raises Refused: DUPLICATE, also where another account has it, or INVALID_PARAMETER where there are too many.
    """
    if not await context.store.write(register, account_id, number, audit_entry):
        raise Refused(Code.DUPLICATE, "number", ALREADY_REGISTERED)


def set_opt_out_number(tx: Tx, account_id: int, number: str | None, audit_entry: AuditEntry) -> None:
    """Set an account's number, or remove it with None, with an audit entry where that changes it.

    Raises Refused(NOT_FOUND).
    """
    if accounts.get(tx, account_id) is None:
        raise Refused(Code.NOT_FOUND)
    if accounts.get_opt_out_numbers(tx, [account_id]).get(account_id) != number:
        accounts.set_opt_out_number(tx, account_id, number)
        audit_log.add(tx, audit_entry)


async def get_opt_out_number(context: Context, account_id: int) -> str:
    """Return an account's own number, empty if it has none."""
    found = await context.store.read(accounts.get_opt_out_numbers, [account_id])
    return found.get(account_id, "")


async def get_default_opt_out_number(context: Context, account_id: int) -> str:
    """Return the number of an account's advertisements that name none: its own, else the operator's, or empty."""
    return await get_opt_out_number(context, account_id) or context.policy.opt_out_number
