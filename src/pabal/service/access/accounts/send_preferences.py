"""Reads and changes how the users of an account send in the console, and where they send their tests to."""

from collections.abc import Mapping

from pabal.domain.base.codes import Code, Problem, Refused, Text
from pabal.domain.people import phone
from pabal.domain.sends.account import MAX_APPROVAL_RECEIVERS, SendPreferences
from pabal.service.context import Context
from pabal.store.accounts import accounts, audit_log
from pabal.store.accounts.audit_log import AuditEntry
from pabal.store.engine.base import Tx
from pabal.store.users import users


def parse(typed: Mapping[str, str]) -> SendPreferences:
    """Return the choices of a form.

    Raises Refused with every problem.
    """
    problems: list[Problem] = []
    number = typed.get("fallback_number", "").strip()
    if typed.get("fallback") and not number:
        problems.append(Problem(Code.MISSING_PARAMETER, "fallback_number"))
    try:
        number = phone.parse_sender(number) if number else ""
    except Refused as refused:
        problems.append(refused.problems[0]._replace(field="fallback_number"))
    receivers = typed.get("approval_receivers", "").strip().replace(",", "") or "0"
    is_number = receivers.isascii() and receivers.isdigit() and len(receivers) < 14
    if not is_number or int(receivers) > MAX_APPROVAL_RECEIVERS:
        detail = Text(
            f"0부터 {MAX_APPROVAL_RECEIVERS:,}까지의 정수를 입력하세요.",
            f"Enter a whole number from 0 to {MAX_APPROVAL_RECEIVERS:,}.",
        )
        problems.append(Problem(Code.INVALID_PARAMETER, "approval_receivers", detail))
    if problems:
        raise Refused.from_problems(problems)
    return SendPreferences(bool(typed.get("lms")), number if typed.get("fallback") else "", int(receivers))


async def get(context: Context, account_id: int) -> SendPreferences:
    """Return the choices of an account."""
    return await context.store.read(accounts.get_send_preferences, account_id)


def change(tx: Tx, account_id: int, chosen: SendPreferences, audit_entry: AuditEntry) -> None:
    """Store the choices of an account, with an audit entry that names the changes."""
    before = accounts.get_send_preferences(tx, account_id)
    if before == chosen:
        return
    accounts.save_send_preferences(tx, account_id, chosen)
    shown = chosen._replace(fallback_number=phone.mask(chosen.fallback_number) if chosen.fallback_number else "")
    changes = [
        f"{name}={getattr(shown, name)}"
        for name, old, new in zip(SendPreferences._fields, before, chosen, strict=True)
        if old != new
    ]
    audit_log.add(tx, audit_entry._replace(target=" ".join(changes)))


async def get_test_number(context: Context, user_id: int) -> str:
    """Return the number that a user last sent a test to, empty if none."""
    return await context.store.read(users.get_test_number, user_id)


async def set_test_number(context: Context, user_id: int, number: str) -> None:
    """Store the number that a user sends tests to."""
    await context.store.write(users.set_test_number, user_id, number)
