"""Says what came of a post to a webhook, and what its owner can do about a failure."""

from typing import NamedTuple

from pabal.checks.webhooks import ERROR_WORDS
from pabal.console.shell.page_request import PageRequest

REFUSALS = (401, 403)
GONE = 410


class PostSummary(NamedTuple):
    """What came of a post, and what to do about it."""

    label: str
    """The status, or that there was none."""
    error: str
    """Why there was no status: a word, and in English what happened."""
    advice: str
    """Empty for a success."""
    is_success: bool


def summarize(request: PageRequest, status: int | None, error: str) -> PostSummary:
    """Return what came of a post that has this status, or this error instead."""
    if status is None:
        word = error.partition(":")[0]
        advice = request.t(f"webhook_error.{word}") if word in ERROR_WORDS else ""
        return PostSummary(request.t("webhook.no_status"), error, advice, False)
    is_success = 200 <= status < 300
    return PostSummary(f"HTTP {status}", "", "" if is_success else request.t(_advice_key(status)), is_success)


def _advice_key(status: int) -> str:
    if status < 400:
        return "webhook_status.redirect"
    if status == GONE:
        return "webhook_status.gone"
    if status in REFUSALS:
        return "webhook_status.refused"
    return "webhook_status.not_taken" if status < 500 else "webhook_status.server"
