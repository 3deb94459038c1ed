"""Reserves budgets for messages, and corrects them: what was reserved becomes what was paid."""

from collections import Counter
from collections.abc import Container, Sequence

from pabal.domain.base import dates, identifiers
from pabal.domain.sends.account import AccountLimits, Limit
from pabal.domain.sends.message import Product
from pabal.domain.sends.price import Hundredths, find_amount
from pabal.domain.sends.sending import Receiver, Sending, choose_text_product, fill_buttons, fill_text
from pabal.service.policy import Policy
from pabal.service.sending import compose
from pabal.store.accounts import account_limits
from pabal.store.accounts.account_limits import BudgetCorrection, EndedGroup
from pabal.store.engine.base import Tx, transaction
from pabal.store.messages import messages, requests
from pabal.store.messages.requests import Request


def amounts_of(policy: Policy, limits: AccountLimits, sending: Sending) -> list[Hundredths]:
    """Return what is reserved of the account's budget for each message of a send; nothing where it has none.

    It is the most that the message and its fallback can cost at the first carriers of their routes.
    """
    if not limits.budget_per_month or not policy.prices:
        return []
    carrier, price = policy.routes.first(sending.product), policy.first_price_of(sending.product) or 0
    by_text: dict[tuple[tuple[str, ...], str | None], Hundredths] = {}
    amounts = []
    for receiver in sending.receivers:
        key = receiver.values, receiver.content
        if key not in by_text:
            by_text[key] = policy.prices.most_of(carrier, price, _fallback_price(policy, sending, receiver))
        amounts.append(by_text[key])
    return amounts if any(amounts) else []


def _fallback_price(policy: Policy, sending: Sending, receiver: Receiver) -> Hundredths:
    """Return what the fallback of a message costs, as the kind of text message that it becomes."""
    if sending.fallback is None:
        return 0
    prices = {product: policy.first_price_of(product) or 0 for product in (Product.SMS, Product.LMS)}
    if sending.is_ad and not sending.opt_out_number:  # the account may change its number, and so the length
        return max(prices.values())
    if prices[Product.SMS] == prices[Product.LMS]:
        return prices[Product.SMS]
    fitting = choose_text_product(_fallback_text(policy, sending, receiver, sending.fallback.content))
    return prices[fitting[0]] if fitting else 0


def _fallback_text(policy: Policy, sending: Sending, receiver: Receiver, own: str | None) -> str:
    names, values = sending.variables[: len(receiver.values)], receiver.values
    if own is not None:
        whole = compose.fallback_content(fill_text(own, names, values), "", (), policy)
    else:
        content = fill_text(sending.content, names, values) if receiver.content is None else receiver.content
        whole = compose.fallback_content(None, content, fill_buttons(sending.buttons, names, values), policy)
    return compose.add_ad_marks(whole, sending.opt_out_number or "") if sending.is_ad else whole


Ended = tuple[bytes, Hundredths]
"""A message that ended, and what it has cost."""


def record_ended(tx: Tx, policy: Policy, ended: Sequence[Ended], replaced: Container[bytes] = ()) -> None:
    """Record messages that ended, of accounts with a budget; housekeeping corrects the budgets.

    A message in `replaced` has a fallback that goes on: the end of that one corrects what was reserved for both.
    """
    limited = account_limits.accounts_with_budget(tx) if ended else set()
    if not limited:
        return
    shared = requests.get(tx, {identifiers.request_id_of(one) for one, _ in ended})
    found = [
        (one, cost, request)
        for one, cost in ended
        if (request := shared.get(identifiers.request_id_of(one))) is not None
        and request.account_id in limited
        and (one not in replaced or request.reserved is None)
    ]
    origins = {one: origin for one, _, request in found if (origin := _origin_of(one, request)) is not None}
    earlier = messages.get_costs(tx, set(origins.values())) if origins else {}
    amounts: Counter[tuple[int, dates.Instant]] = Counter()
    for one, cost, request in found:
        if request.reserved is None:  # a version that reserved nothing for fallbacks
            reserved = 0 if one in origins else policy.first_price_of(request.product) or 0
        else:
            cost += earlier.get(origins[one], 0) if one in origins else 0
            reserved = find_amount(request.reserved, identifiers.number_of(origins.get(one, one)))
        amounts[request.account_id, identifiers.requested_at(one)] += cost - reserved
    account_limits.add(tx, [BudgetCorrection(*key, amount) for key, amount in amounts.items() if amount])


def _origin_of(message_id: bytes, request: Request) -> bytes | None:
    """Return the message that a fallback replaces, None for other messages."""
    number = identifiers.number_of(message_id)
    is_fallback = number > request.total
    return identifiers.make_message_id(request.id, number - request.total) if is_fallback else None


@transaction(exclusive=True)
def correct_some(tx: Tx, policy: Policy, limit: int) -> int:
    """Correct budgets by some of the recorded messages; return how many entries there were.

    Each counts in the month of its request, where its amount was reserved.
    """
    found = account_limits.take(tx, limit)
    by_month: Counter[tuple[int, int]] = Counter()
    for each in found:
        month = dates.month_of(each.requested_at, policy.zone).start or 0
        amount = _amount_of(policy, each.ended) if each.amount is None else each.amount
        by_month[each.account_id, month] += amount
    for (account_id, month), amount in sorted(by_month.items()):
        account_limits.correct(tx, account_id, Limit.BUDGET, month, amount)
    return len(found)


def _amount_of(policy: Policy, ended: EndedGroup) -> Hundredths:
    """Return the correction for messages that were ended by a version that recorded no amount."""
    reserved = 0 if ended.is_fallback else policy.first_price_of(ended.product) or 0
    cost = policy.prices.cost_of(ended.carrier, ended.product, ended.outcome) if ended.outcome else 0
    return ((cost or 0) - reserved) * ended.messages
