"""Sets the limits of accounts, and shows how much of them is used."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pabal.domain.base.codes import Code, Problem, Refused, Text
from pabal.domain.base.dates import Instant
from pabal.domain.sends.account import MAX_DUPLICATE_MINUTES, MAX_LIMIT, QUOTAS, AccountLimits, Limit
from pabal.domain.sends.price import HUNDREDTHS_PER_WON, format_won
from pabal.service.context import Context
from pabal.store.accounts import account_limits, accounts, audit_log
from pabal.store.accounts.account_limits import LimitedAccount
from pabal.store.accounts.audit_log import Actor, AuditEntry
from pabal.store.engine.base import Tx

FIELDS = AccountLimits._fields
_Used = dict[tuple[Limit, Instant], int]
"""How much is used of each limit, by the first instant of its period."""


class LimitUse(NamedTuple):
    """How much of a limit is used, as texts, and the percentage; a rate has neither."""

    limit: Limit
    value: str
    used: str
    left: str
    percent: int
    resets_at: Instant | None
    is_near: bool = False
    """Whether to report it to its account."""


class AccountUse(NamedTuple):
    """An account with limits, and how much of each is used."""

    id: int
    name: str
    limits: list[LimitUse]

    @property
    def is_near(self) -> bool:
        """Whether it is near one of them, or has reached it."""
        return any(each.is_near for each in self.limits)


def parse_limits(typed: Mapping[str, str]) -> AccountLimits:
    """Return the limits that were typed; an empty one is no limit, and no minutes mean the setting.

    Raises Refused(INVALID_PARAMETER) with every problem.
    """
    problems: list[Problem] = []
    found: dict[str, int | None] = {}
    for name in FIELDS:
        spelling, is_optional = typed[name].strip().replace(",", ""), name == "duplicate_minutes"
        highest = MAX_DUPLICATE_MINUTES if is_optional else MAX_LIMIT
        if not spelling:
            found[name] = None if is_optional else 0
        elif spelling.isascii() and spelling.isdigit() and len(spelling) < 14 and int(spelling) <= highest:
            found[name] = int(spelling)
        else:
            detail = Text(
                f"0부터 {highest:,}까지의 정수를 입력하세요.", f"Enter a whole number from 0 to {highest:,}."
            )
            problems.append(Problem(Code.INVALID_PARAMETER, name, detail))
    if problems:
        raise Refused.from_problems(problems)
    return AccountLimits(**found)  # type: ignore[arg-type]


def set_limits(tx: Tx, account_id: int, limits: AccountLimits, actor: Actor, now: Instant) -> None:
    """Set the limits of an account, with an audit entry that names the changes.

    Raises Refused(NOT_FOUND).
    """
    if accounts.get(tx, account_id) is None:
        raise Refused(Code.NOT_FOUND)
    before = account_limits.get(tx, account_id)
    if before == limits:
        return
    account_limits.save(tx, account_id, limits)
    changes = [
        f"{name}={'default' if new is None else new}"
        for name, old, new in zip(FIELDS, before, limits, strict=True)
        if old != new
    ]
    audit_log.add(tx, AuditEntry(now, *actor, account_id, "account.limits", " ".join(changes)))


async def get_limits(context: Context, account_id: int) -> AccountLimits:
    return await context.store.read(account_limits.get, account_id)


async def get_use(context: Context, account_id: int) -> list[LimitUse]:
    """Return how much of each of an account's limits is used; empty if it has none."""
    limits, used = await context.store.read(_read_use, account_id)
    return _describe_use(context, limits, used)


async def list_use(context: Context, after: int, count: int) -> list[AccountUse]:
    """Return how much of their limits some accounts have used, by id, those with an id above `after`."""
    found, used = await context.store.read(_read_limited, after, count)
    return [
        AccountUse(each.id, each.name, _describe_use(context, each.limits, used.get(each.id, {}))) for each in found
    ]


def _describe_use(context: Context, limits: AccountLimits, used: _Used) -> list[LimitUse]:
    now, zone = context.world.now(), context.policy.zone
    found = []
    for limit in Limit:
        value, is_money = limits.get(limit), limit is Limit.BUDGET
        if value and limit in QUOTAS:
            period = limit.period(now, zone)
            amount = used.get((limit, period.start or 0), 0)
            whole = value * HUNDREDTHS_PER_WON if is_money else value
            percent = amount * 100 // whole
            spent, left = (
                format_won(each) if is_money else f"{each:,}" for each in (amount, max(0, whole - amount))
            )
            is_near = percent >= context.policy.near_percent
            found.append(LimitUse(limit, f"{value:,}", spent, left, percent, period.end, is_near))
        elif value:
            found.append(LimitUse(limit, f"{value:,}", "", "", 0, None))
    return found


def _read_use(tx: Tx, account_id: int) -> tuple[AccountLimits, _Used]:
    return account_limits.get(tx, account_id), _read_used(tx, [account_id]).get(account_id, {})


def _read_limited(tx: Tx, after: int, count: int) -> tuple[list[LimitedAccount], dict[int, _Used]]:
    found = account_limits.list_limited(tx, after, count)
    return found, _read_used(tx, [each.id for each in found])


def _read_used(tx: Tx, account_ids: Sequence[int]) -> dict[int, _Used]:
    used: dict[int, _Used] = {}
    for each in account_limits.list_usage(tx, account_ids):
        used.setdefault(each.account_id, {})[each.limit, each.period] = each.used
    return used
