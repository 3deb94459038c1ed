"""How a send is summed up: the ways that are chosen, how many receivers, when, and about what it costs."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from pabal.console.send.draft import MessageDraft
from pabal.console.send.review import Review
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base import identifiers
from pabal.domain.base.codes import Refused, Text
from pabal.domain.content import variables
from pabal.domain.people.contact import ContactGroup
from pabal.domain.sends.message import Product
from pabal.domain.sends.price import Hundredths, format_won
from pabal.domain.sends.sending import Sending, choose_text_product, fill_buttons, fill_text
from pabal.service.access.contacts import contacts
from pabal.service.policy import Policy
from pabal.service.sending import compose
from pabal.service.sending.campaigns import campaign_files
from pabal.service.sending.campaigns.campaign_files import Campaign

TYPED, FILE, GROUPS = "typed", "file", "group"
NOW, LATER = "", "1"
DAY_MS = 24 * 60 * 60 * 1000
MORNING = "T08:00"
"""When advertisements may be sent again; where nobody minds, the usual time to send in the morning."""


class TimeWays(NamedTuple):
    """The cards of the time."""

    when: str
    """The value of the chosen card: now, later, or `tomorrow`."""
    tomorrow: str
    """Tomorrow morning, as the field of the form has it."""


class SendWays(NamedTuple):
    """What is chosen among the other cards of the page."""

    whom: str
    """How receivers are given: typed, by a file, or by groups."""
    group_contacts: int
    """The contacts of the chosen groups; of all groups where none is chosen."""


def open_ways(
    request: PageRequest, draft: MessageDraft, groups: Sequence[ContactGroup], chosen: Collection[int]
) -> SendWays:
    """Return the ways that are open: those that were chosen, or else those that the draft uses."""
    whom = request.field("whom")
    if whom not in (TYPED, FILE, GROUPS):
        whom = GROUPS if chosen and not draft.texts["receivers"] else TYPED
    counted = [each.contacts for each in groups if each.id in chosen or not chosen]
    return SendWays(whom, sum(counted))


def open_times(request: PageRequest, typed: str, *, is_later: bool) -> TimeWays:
    """Return the card of the time that is typed."""
    tomorrow = request.minute(request.now + DAY_MS)[:10] + MORNING
    is_tomorrow = typed.strip().replace(" ", "T") == tomorrow
    return TimeWays(tomorrow if is_later and is_tomorrow else LATER if is_later else NOW, tomorrow)


class SendSummary(NamedTuple):
    """What a send is about to do, as far as it is written."""

    receivers: int
    """Valid typed receivers, and the contacts of the chosen groups; who is in several of them counts for each."""
    scheduled: str
    """The time as the field of the form has it; empty: now."""
    cost: str
    """Won; empty: unknown."""
    keeps_receivers: bool = False
    """Whether they are those of a campaign that is changed."""


async def summarize(request: PageRequest, review: Review, groups: Collection[int]) -> SendSummary:
    """Return the summary of a draft for typed receivers and the contacts of groups."""
    count = review.valid_count
    if groups:
        _, known = await request.context.store.read(contacts.get_book, request.account_id)
        count += sum(each.contacts for each in known if each.id in groups)
    keeps = not count and request.field("whom") != FILE
    if keeps and (edited := await find_edited(request, review.draft)):
        count = edited.receivers
    cost = estimate_cost(request.context.policy, {review.sent_draft.product: count}) if count else None
    at = review.draft.texts["sendDate"] if review.draft.checkboxes["later"] else ""
    return SendSummary(count, at, cost.total if cost else "", keeps and count > 0)


async def find_edited(request: PageRequest, draft: MessageDraft) -> Campaign | None:
    """Return the campaign that a draft changes; None: it changes none."""
    if not draft.texts["edits"]:
        return None
    try:
        campaign_id = identifiers.parse_request_id(draft.texts["edits"])
        return await campaign_files.get_campaign(request.context, request.account_id, campaign_id)
    except Refused:
        return None


TEXT_PRODUCTS = (Product.SMS, Product.LMS)
"""What the fallback of a message can be."""


class CostPart(NamedTuple):
    """What the messages of one product cost."""

    label: Text
    messages: int
    total: str


class CostEstimate(NamedTuple):
    """Amounts in won, as they are shown."""

    total: str
    each: str
    """The price of one message; empty where they have several."""
    with_fallbacks: str
    """What it costs at most, which a budget reserves; empty: there is no fallback, or no price."""
    parts: tuple[CostPart, ...] = ()
    """The cost of each product, where there are several."""


def estimate_cost(
    policy: Policy, messages: Mapping[Product, int], fallback: Product | None = None
) -> CostEstimate | None:
    """Return the expected cost of so many messages, by the first carrier of each route; None without a price."""
    counts = {product: count for product, count in messages.items() if count}
    prices = {product: policy.first_price_of(product) for product in counts}
    known = {product: price for product, price in prices.items() if price is not None}
    if not counts or len(known) < len(counts):
        return None
    total = sum(count * known[product] for product, count in counts.items())
    fallback_price = policy.first_price_of(fallback) if fallback else None
    at_most: Hundredths | None = (
        None
        if fallback_price is None
        else sum(
            count * policy.prices.most_of(policy.routes.first(product), known[product], fallback_price)
            for product, count in counts.items()
        )
    )
    is_mixed = len(counts) > 1
    return CostEstimate(
        format_won(total),
        "" if is_mixed else format_won(next(iter(known.values()))),
        "" if at_most is None else format_won(at_most),
        tuple(
            CostPart(product.label, count, format_won(count * known[product])) for product, count in counts.items()
        )
        if is_mixed
        else (),
    )


def dearest_fallback(policy: Policy, sending: Sending, opt_out_number: str = "") -> Product | None:
    """Return the dearest text message that the fallback of a send can be; None where it has none.

    Values that fill in variables are not looked at: an SMS may become an LMS by them. `opt_out_number` is the
    default number for opting out of advertisements.
    """
    fallback = sending.fallback
    if fallback is None:
        return None
    names = sending.variables
    blank = [""] * len(names)
    own = None if fallback.content is None else fill_text(fallback.content, names, blank)
    try:
        buttons = fill_buttons(sending.buttons, names, blank)
    except Refused:  # a link that is nothing but a variable
        buttons = sending.buttons
    least = compose.fallback_content(own, fill_text(sending.content, names, blank), buttons, policy)
    if sending.is_ad:
        least = compose.add_ad_marks(least, sending.opt_out_number or opt_out_number)
    fitting = choose_text_product(least)
    shown = [sending.content, *(each.mobile_url or "" for each in sending.buttons)]
    has_variables = bool(variables.find_names(*([fallback.content] if fallback.content else shown)))
    if not has_variables or fitting is None or fitting[0] is Product.LMS:
        return fitting[0] if fitting else None
    return max(TEXT_PRODUCTS, key=lambda product: policy.first_price_of(product) or 0)
