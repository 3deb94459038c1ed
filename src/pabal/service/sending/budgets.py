"""Corrects budgets: what was reserved for a message becomes what it has cost."""

from collections import Counter
from collections.abc import Sequence

from pabal.domain.base import dates, identifiers
from pabal.domain.sends.limits import Limit
from pabal.domain.sends.message import Outcome
from pabal.service.policy import Policy
from pabal.store.accounts import account_limits
from pabal.store.accounts.account_limits import EndedGroup
from pabal.store.engine.base import Tx, transaction
from pabal.store.messages import messages, requests

Ended = tuple[bytes, str | None, Outcome | None]
"""A message that ended: its id, the carrier that took it, if any, and its outcome; None: cancelled."""


def record_ended(tx: Tx, ended: Sequence[Ended]) -> None:
    """Record messages that ended, of accounts with a budget; housekeeping corrects the budgets."""
    if not ended:
        return
    limited = account_limits.accounts_with_budget(tx)
    if not limited:
        return
    stored = messages.get(tx, [message_id for message_id, _, _ in ended])
    shared = requests.get(tx, {identifiers.request_id_of(message_id) for message_id in stored})
    counts: Counter[EndedGroup] = Counter()
    for message_id, carrier, outcome in ended:
        message = stored.get(message_id)
        request = shared.get(identifiers.request_id_of(message_id))
        if message and request and message.account_id in limited:
            is_fallback = identifiers.number_of(message_id) > request.total
            at = identifiers.requested_at(message_id)
            counts[EndedGroup(message.account_id, at, message.product, is_fallback, carrier, outcome, 0)] += 1
    account_limits.add(tx, [each._replace(messages=count) for each, count in counts.items()])


@transaction(exclusive=True)
def correct_some(tx: Tx, policy: Policy, limit: int) -> int:
    """Correct budgets by some of the recorded messages; return how many entries there were.

    Each counts in the month of its request, where its price was reserved.
    """
    found = account_limits.take(tx, limit)
    by_month: Counter[tuple[int, int]] = Counter()
    for each in found:
        reserved = 0 if each.is_fallback else policy.first_price_of(each.product) or 0
        cost = policy.prices.cost_of(each.carrier, each.product, each.outcome) if each.outcome else 0
        month = dates.month_of(each.requested_at, policy.zone).start or 0
        by_month[each.account_id, month] += ((cost or 0) - reserved) * each.messages
    for (account_id, month), amount in sorted(by_month.items()):
        account_limits.correct(tx, account_id, Limit.BUDGET, month, amount)
    return len(found)
