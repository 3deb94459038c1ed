"""The summary beside the button of the send page: how many receivers, when, and about what it costs."""

from collections.abc import Collection
from typing import NamedTuple

from pabal.console.send.cost import estimate_cost
from pabal.console.send.review import Review
from pabal.console.shell.page_request import PageRequest
from pabal.service.access.contacts import contacts


class SendSummary(NamedTuple):
    """What a send is about to do, as far as it is written."""

    receivers: int
    """Valid typed receivers, and the contacts of the chosen groups; who is in several of them counts for each."""
    scheduled: str
    """The time as the field of the form has it; empty: now."""
    cost: str
    """Won; empty: unknown."""


async def summarize(request: PageRequest, review: Review, groups: Collection[int]) -> SendSummary:
    """Return the summary of a draft for typed receivers and the contacts of groups."""
    count = review.valid_count
    if groups:
        _, known = await contacts.get_book(request.context, request.account_id)
        count += sum(each.contacts for each in known if each.id in groups)
    cost = estimate_cost(request.context.policy, {review.sent_draft.product: count}) if count else None
    at = review.draft.texts["sendDate"] if review.draft.checkboxes["later"] else ""
    return SendSummary(count, at, cost.total if cost else "")
