"""The operators' page of paused webhooks, of all accounts."""

from typing import NamedTuple

from starlette.responses import Response

from pabal.console.manage.webhook_results import PostSummary, summarize
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Code, Refused
from pabal.domain.events.webhook import MAX_ID_DIGITS, Webhook
from pabal.service.access.accounts import administration
from pabal.service.webhooks import manage
from pabal.service.webhooks.manage import MAX_LISTED_PAUSED, WebhookFields

PAUSED_PATH = "/console/operate/webhooks"


class PausedRow(NamedTuple):
    """A paused webhook, as it is shown."""

    webhook: Webhook
    failing_since: str
    trial_at: str
    last: PostSummary | None


async def list_paused(request: PageRequest) -> Response:
    """Show the webhooks that are paused because they keep failing."""
    return await _render(request)


async def resume(request: PageRequest) -> Response:
    """Use a paused webhook again: what has waited is posted at once.

    Raises Refused: NOT_FOUND, WEBHOOK_NOT_FOUND.
    """
    account = await administration.get_account(request.context, _read_id(request, "account"))
    webhook_id = _read_id(request, "webhook")
    audit_entry = request.audit_entry("webhook.update", str(webhook_id), account.id)
    try:
        await manage.update(request.context, account.id, webhook_id, WebhookFields(is_enabled=True), audit_entry)
    except Refused as refused:
        if refused.code is not Code.RATE_LIMITED:
            raise
        return await _render(request, refused)
    return request.redirect(f"{PAUSED_PATH}?done=1")


async def _render(request: PageRequest, refused: Refused | None = None) -> Response:
    found = await manage.list_paused(request.context)
    return request.render(
        "operate/waiting/paused_webhooks.html",
        refused.code.http_status if refused else 200,
        rows=[
            PausedRow(
                each.webhook,
                _stamp(request, each.webhook.failing_since),
                _stamp(request, each.webhook.trial_at),
                summarize(request, each.last_try.status, each.last_try.error) if each.last_try else None,
            )
            for each in found
        ],
        most=MAX_LISTED_PAUSED,
        is_done=not refused and bool(request.field("done")),
        error=refused.problems[0].message(request.locale.language) if refused else "",
    )


def _stamp(request: PageRequest, at: int | None) -> str:
    return "" if at is None else request.locale.format_timestamp(at)


def _read_id(request: PageRequest, field: str) -> int:
    word = request.field(field)
    if not (word.isascii() and word.isdigit() and len(word) <= MAX_ID_DIGITS):
        raise Refused(Code.NOT_FOUND)
    return int(word)
