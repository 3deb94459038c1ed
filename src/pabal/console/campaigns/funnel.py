"""The funnel of a campaign or a request: accepted, delivered, reached by fallback, and why the others were not."""

from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlencode

from pabal.console.campaigns.entry import count_receivers
from pabal.console.overview.figures import format_percent
from pabal.console.send.summary import CostEstimate, estimate_cost
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Text
from pabal.domain.sends.message import OUTCOME_BY_NUMBER, Product, Status
from pabal.domain.sends.price import format_won
from pabal.service.sending.campaigns.progress import SentItem

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
    progress, counted = sent.progress, count_receivers(sent)
    total = max(sent.total, progress.total)
    is_for_later = sent.is_scheduled(request.now)
    counts = {
        "accepted": progress.total,
        "completed": counted.completed,
        "fallback": counted.fallback,
        "reached": counted.reached,
        "fail": counted.fail,
        "scheduled": counted.waiting if is_for_later else 0,
        "open": counted.sending + (0 if is_for_later else counted.waiting),
        "cancel": counted.cancel,
    }
    optional = {word: counts[word] > 0 for word in ("scheduled", "open", "cancel")}
    optional["fallback"] = progress.fallbacks > 0
    links = {"completed": _messages(sent.id, status=Status.COMPLETED.code)}
    return Funnel(
        steps=[
            FunnelStep(
                word,
                count,
                format_percent(count, total),
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


def _messages_to_send(sent: SentItem) -> dict[Product, int]:
    """Return how many messages of each product there are, without fallbacks."""
    upgraded = sent.campaign.upgraded if sent.campaign else 0
    return {sent.product: sent.total - upgraded} | ({Product.LMS: upgraded} if upgraded else {})


def _reason_label(request: PageRequest, outcome: int) -> str:
    known = OUTCOME_BY_NUMBER.get(outcome)
    return f"{request.translate(known.label)} ({outcome})" if known else request.t("funnel.unknown")


def _messages(sent_id: bytes, extension: str = "", **fields: str) -> str:
    return f"{HISTORY_PATH}{extension}?{urlencode({'request': sent_id.hex(), **fields})}"


TEXTS = {
    "funnel.title": Text("발송 결과", "Results"),
    "funnel.accepted": Text("접수", "Accepted"),
    "funnel.completed": Text("바로 전달", "Delivered directly"),
    "funnel.fallback": Text("대체 문자로 도달", "Reached by fallback"),
    "funnel.reached": Text("최종 도달", "Finally reached"),
    "funnel.fail": Text("도달하지 못함", "Not reached"),
    "funnel.scheduled": Text("예약 시각 대기", "Scheduled for later"),
    "funnel.open": Text("진행 중", "In progress"),
    "funnel.cancel": Text("취소", "Cancelled"),
    "funnel.cost_so_far": Text("지금까지의 비용", "Cost so far"),
    "funnel.reasons": Text("실패 사유", "Why messages failed"),
    "funnel.messages": Text("메시지", "Messages"),
    "funnel.fallbacks": Text("대체 문자", "Fallbacks"),
    "funnel.unknown": Text("사유를 알 수 없음", "Unknown"),
    "funnel.failed": Text("실패한 메시지 보기", "View failed messages"),
}
