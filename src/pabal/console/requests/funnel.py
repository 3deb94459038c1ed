"""The funnel of a campaign or a request: accepted, delivered, reached by fallback, and why the others were not."""

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from pabal.console.send.cost import CostEstimate, estimate_cost
from pabal.console.shell.page_request import PageRequest
from pabal.domain.sends.message import OUTCOME_BY_NUMBER, Product, Status
from pabal.domain.sends.price import format_won
from pabal.service.sending.campaigns.progress import CampaignProgress, SentItem

HISTORY_PATH = "/console/history"
BAR_WIDTH = 1000
"""The width of a bar in its own units."""


class FunnelStep(NamedTuple):
    """A line of the funnel; its text is `funnel.<word>`."""

    word: str
    receivers: int
    share: str
    """Percent of all receivers, empty without any."""
    width: int
    link: str = ""
    """Where its messages are listed; empty: nowhere."""


class FailureReason(NamedTuple):
    """Why messages failed, and how many fallbacks failed for the same reason."""

    label: str
    messages: int
    fallbacks: int
    link: str


class Funnel(NamedTuple):
    """The results of all receivers, as a page shows them."""

    steps: Sequence[FunnelStep]
    reasons: Sequence[FailureReason]
    has_fallbacks: bool
    cost: str
    """What it has cost so far, in won; empty: no price is known."""
    expected: CostEstimate | None
    """What it is expected to cost, where something is still to be sent."""
    all_messages: str
    failed_messages: str
    csv: str
    xlsx: str


def build_funnel(request: PageRequest, sent: SentItem) -> Funnel:
    """Return the funnel of what was sent."""
    progress, total = sent.progress, max(sent.total, sent.progress.total)
    open_fallbacks = _open_fallbacks(progress)
    missed = progress.fail - progress.fallbacks_completed - open_fallbacks
    counts = {
        "accepted": progress.total,
        "completed": progress.completed,
        "fallback": progress.fallbacks_completed,
        "reached": progress.reached,
        "fail": max(0, missed),
        "open": progress.waiting + progress.sending + open_fallbacks,
        "cancel": progress.cancel,
    }
    optional = {"fallback": progress.fallbacks > 0, "open": counts["open"] > 0, "cancel": counts["cancel"] > 0}
    links = {"completed": _messages(sent.id, status=Status.COMPLETED.code)}
    return Funnel(
        steps=[
            FunnelStep(
                word,
                count,
                format_share(count, total),
                round(BAR_WIDTH * count / total) if total else 0,
                links.get(word, "") if count else "",
            )
            for word, count in counts.items()
            if optional.get(word, True)
        ],
        reasons=[
            FailureReason(
                _reason_label(request, each.outcome),
                each.messages,
                each.fallbacks,
                _messages(sent.id, outcome=str(each.outcome)) if each.outcome in OUTCOME_BY_NUMBER else "",
            )
            for each in progress.failures
        ],
        has_fallbacks=progress.fallbacks > 0,
        cost="" if progress.cost is None else format_won(progress.cost),
        expected=None if sent.has_ended else estimate_cost(request.context.policy, _messages_to_send(sent)),
        all_messages=_messages(sent.id),
        failed_messages=_messages(sent.id, status=Status.FAIL.code) if progress.fail else "",
        csv=_messages(sent.id, ".csv"),
        xlsx=_messages(sent.id, ".xlsx"),
    )


def format_share(count: int, total: int) -> str:
    """Return a percentage; 100.0 only of all, and 0.0 only of none, and empty without a total."""
    if not total:
        return ""
    tenths = round(1000 * count / total)
    tenths = min(tenths, 999) if count < total else tenths
    return f"{(max(tenths, 1) if count else 0) / 10:.1f}"


def _messages_to_send(sent: SentItem) -> dict[Product, int]:
    """Return how many messages of each product there are, without fallbacks."""
    upgraded = sent.campaign.upgraded if sent.campaign else 0
    return {sent.product: sent.total - upgraded} | ({Product.LMS: upgraded} if upgraded else {})


def _open_fallbacks(progress: CampaignProgress) -> int:
    """Return how many fallbacks are still on their way."""
    failed = sum(each.fallbacks for each in progress.failures)
    return max(0, progress.fallbacks - progress.fallbacks_completed - failed)


def _reason_label(request: PageRequest, outcome: int) -> str:
    known = OUTCOME_BY_NUMBER.get(outcome)
    return f"{request.translate(known.label)} ({outcome})" if known else request.t("funnel.unknown")


def _messages(sent_id: bytes, extension: str = "", **fields: str) -> str:
    return f"{HISTORY_PATH}{extension}?{urlencode({'request': sent_id.hex(), **fields})}"
