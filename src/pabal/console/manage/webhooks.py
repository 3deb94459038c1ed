"""The pages of webhooks: list, form, test, pause, rotate the secret, deliveries and what came of them, replay."""

from collections.abc import Collection, Mapping
from typing import NamedTuple
from urllib.parse import urlencode

from starlette.responses import Response

from pabal.checks import webhooks as checks
from pabal.checks.webhooks import ERROR_WORDS
from pabal.console.shell.form_fields import page_number
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.events.webhook import MAX_WEBHOOKS, Webhook, WebhookFormat, WebhookState
from pabal.models.webhooks import CreateWebhook, ReplayWebhook
from pabal.outbound.calls import NOT_TLS
from pabal.service.webhooks import manage, tries
from pabal.service.webhooks.manage import MAX_COUNTED_BACKLOG, ListedWebhook, WebhookFields

WEBHOOKS_PATH = "/console/webhooks"
SHOWN_DELIVERIES = 20
MAX_PAGE = 50
"""The page with the oldest delivery that is kept."""
STATE_CLASSES = {
    WebhookState.ACTIVE: "completed",
    WebhookState.PAUSED: "fail",
    WebhookState.DISABLED: "cancel",
}
"""How the stylesheet names the color of each state."""
REFUSALS = (401, 403)
GONE = 410
EVENT_FIELD, PRODUCT_FIELD, ENABLED_FIELD = "event.", "product.", "enabled"
"""What the names of check boxes begin with; the last is one name."""
DEFAULT_EVENTS = ("message.result",)
MAX_EVENT_IDS = 10
"""How many events of a delivery are named: 20 deliveries of 100 events are too much for a page."""


async def create_webhook(request: PageRequest) -> Response:
    """Create a webhook and show its secret, once."""
    new = read_form(request)
    entry = request.audit_entry("webhook.create")
    made = await manage.create(request.context, request.account_id, new, entry)
    return _render_secret(request, made.webhook_id, made.secret)


async def update_webhook(request: PageRequest) -> Response:
    """Change a webhook as its form says; an empty field is cleared."""
    fields = read_form(request)
    await _update(request, fields._replace(is_enabled=bool(request.field(ENABLED_FIELD))))
    return request.redirect(f"{_path(request)}?saved=1")


async def set_state(request: PageRequest) -> Response:
    """Pause a webhook, or use it again."""
    is_enabled = request.field("enabled") == "true"
    await _update(request, WebhookFields(is_enabled=is_enabled, skips_missed=bool(request.field("skip"))))
    return request.redirect(f"{_path(request)}?saved=1")


async def rotate_secret(request: PageRequest) -> Response:
    """Make a new secret and show it, once; the old one stays valid for a day."""
    secret = await _update(request, WebhookFields(rotates_secret=True))
    return _render_secret(request, _id(request), secret or "")


async def send_test(request: PageRequest) -> Response:
    """Deliver a test event and show the answer."""
    try:
        result = await tries.send_test(request.context, request.account_id, _id(request))
    except Refused as refused:
        if refused.code is not Code.RATE_LIMITED:
            raise
        return await show_webhook(request, refused)
    item = checks.build_test_item(result)
    tested = summarize(request, result.status, tries.describe_error(result))
    return await show_webhook(request, tested=tested, tested_ms=f"{item.durationMs:,}", tested_answer=item.answer)


async def replay_events(request: PageRequest) -> Response:
    """Deliver events again.

    Raises Refused: WEBHOOK_NOT_FOUND, INVALID_STATE.
    """
    since = request.field("since").replace("T", " ")
    call = request.api_call(ReplayWebhook, {"webhookId": str(_id(request)), "since": since})
    entry = request.audit_entry("webhook.replay", str(_id(request)))
    try:
        webhook_id, at = checks.read_replay(call)
        await manage.replay(request.context, request.account_id, webhook_id, at, entry)
    except Refused as refused:
        if refused.code in (Code.WEBHOOK_NOT_FOUND, Code.INVALID_STATE):
            raise
        return await show_webhook(request, refused)
    return await show_webhook(request, is_replayed=True)


async def delete_webhook(request: PageRequest) -> Response:
    """Delete a webhook."""
    entry = request.audit_entry("webhook.delete", str(_id(request)))
    await manage.delete(request.context, request.account_id, _id(request), entry)
    return request.redirect(f"{WEBHOOKS_PATH}?deleted=1")


def _id(request: PageRequest) -> int:
    return checks.parse_id(request.http.path_params["webhook"])


def _path(request: PageRequest) -> str:
    return f"{WEBHOOKS_PATH}/{_id(request)}"


async def _update(request: PageRequest, fields: WebhookFields) -> str | None:
    """Change a webhook; return its new secret, if it has one."""
    webhook_id = _id(request)
    entry = request.audit_entry("webhook.update", str(webhook_id))
    _, secret = await manage.update(request.context, request.account_id, webhook_id, fields, entry)
    return secret


def _render_secret(request: PageRequest, webhook_id: int, secret: str) -> Response:
    return request.render("manage/webhook_secret.html", secret=secret, path=f"{WEBHOOKS_PATH}/{webhook_id}")


async def list_webhooks(request: PageRequest, refused: Refused | None = None) -> Response:
    """Show the account's webhooks, and a form for a new one."""
    found = await manage.list_all(request.context, request.account_id)
    return request.render(
        "manage/webhooks.html",
        refused,
        rows=[_row(request, each) for each in found],
        may_add=len(found) < MAX_WEBHOOKS,
        most=MAX_WEBHOOKS,
        form=_build_form(request, None, refused),
        is_deleted=not refused and bool(request.field("deleted")),
    )


def _row(request: PageRequest, listed: ListedWebhook) -> tuple[ListedWebhook, tuple[str, str], str]:
    return listed, describe_state(request, listed.webhook), request.time(listed.webhook.last_success_at)


async def show_edit_form(request: PageRequest, refused: Refused | None = None) -> Response:
    """Show the form that changes a webhook."""
    listed = await manage.get(request.context, request.account_id, _id(request))
    return request.render(
        "manage/webhook_edit.html",
        refused,
        webhook_id=listed.webhook.id,
        path=_path(request),
        form=_build_form(request, listed.webhook, refused),
    )


async def show_webhook(request: PageRequest, refused: Refused | None = None, **more: object) -> Response:
    """Show a webhook with its last deliveries."""
    webhook_id, page = _id(request), page_number(request, MAX_PAGE)
    listed = await manage.get(request.context, request.account_id, webhook_id)
    total, tries = await request.context.store.read(
        manage.list_deliveries, request.account_id, webhook_id, page, SHOWN_DELIVERIES
    )
    webhook, path = listed.webhook, _path(request)
    values = {"tested": None, "tested_ms": "", "tested_answer": "", "is_replayed": False, **more}
    return request.render(
        "manage/webhook.html",
        refused,
        webhook=webhook,
        item=checks.build_webhook_item(listed, request.locale),
        products=[each.label for each in checks.PRODUCT_CHOICES.values() if each in webhook.products],
        state=describe_state(request, webhook),
        max_event_ids=MAX_EVENT_IDS,
        is_backlog_capped=listed.backlog >= MAX_COUNTED_BACKLOG,
        is_saved=request.http.method == "GET" and bool(request.field("saved")),
        tries=[
            (checks.build_delivery_item(each, request.locale), summarize(request, each.status, each.error))
            for each in tries
        ],
        path=path,
        since=request.field("since"),
        errors=list_errors(request, refused),
        newer=f"{path}?{urlencode({'page': page - 1})}" if page > 1 else "",
        older=f"{path}?{urlencode({'page': page + 1})}" if total > page * SHOWN_DELIVERIES else "",
        **values,
    )


def describe_state(request: PageRequest, webhook: Webhook) -> tuple[str, str]:
    """Return the state of a webhook in words, and the CSS class that colours it; failures are those in a row."""
    if webhook.is_gone:
        return request.t("webhook_state.gone"), "fail"
    if webhook.failures and webhook.state is WebhookState.ACTIVE:
        return request.t("webhook_state.failing", count=webhook.failures), "fail"
    if webhook.state is WebhookState.ACTIVE and webhook.last_success_at is None:
        return request.t("webhook_state.unused"), "unused"
    return request.translate(webhook.state.label), STATE_CLASSES[webhook.state]


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
        word, _, detail = error.partition(": ")
        key = "plain_http" if detail == NOT_TLS else word
        advice = request.t(f"webhook_error.{key}") if word in ERROR_WORDS else ""
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


class WebhookForm(NamedTuple):
    """What the fields of the form contain, and the messages about them, by field."""

    url: str
    description: str
    events: list[tuple[str, bool]]
    """Each event, and whether it is checked."""
    products: list[tuple[str, Text, bool]]
    """Each product with its label, and whether it is checked."""
    is_enabled: bool
    format: str
    errors: Mapping[str, str]

    def formats(self, language: str) -> list[tuple[str, str]]:
        """Return each format with its label."""
        return [(each.code, each.label.in_language(language)) for each in WebhookFormat]


def _build_form(request: PageRequest, webhook: Webhook | None, refused: Refused | None) -> WebhookForm:
    """Return the form of a webhook, or of a new one; after a refusal as it was sent, with what is wrong with it."""
    events: Collection[str] = DEFAULT_EVENTS
    products: Collection[str] = ()
    if refused:
        events, products = _checked(request, EVENT_FIELD), _checked(request, PRODUCT_FIELD)
    elif webhook:
        events, products = {each.code for each in webhook.events}, {each.code for each in webhook.products}
    stored = (
        (webhook.url, webhook.description, webhook.format.code) if webhook else ("", "", WebhookFormat.PABAL.code)
    )
    typed = tuple(request.field(name) for name in ("url", "description", "format"))
    url, description, chosen_format = typed if refused else stored
    is_enabled = webhook is None or webhook.state is not WebhookState.DISABLED
    return WebhookForm(
        url,
        description,
        [(word, word in events) for word in checks.EVENT_CHOICES],
        [(word, each.label, word in products) for word, each in checks.PRODUCT_CHOICES.items()],
        bool(request.field(ENABLED_FIELD)) if refused else is_enabled,
        chosen_format,
        list_errors(request, refused),
    )


def read_form(request: PageRequest) -> WebhookFields:
    """Return what was typed: every field, also those that are empty.

    Raises Refused, naming each wrong field.
    """
    typed = {
        "url": request.field("url"),
        "events": _checked(request, EVENT_FIELD),
        "products": _checked(request, PRODUCT_FIELD),
        "description": request.field("description"),
        "format": request.field("format") or None,
    }
    return checks.read_new_fields(request.api_call(CreateWebhook, typed).form)


def list_errors(request: PageRequest, refused: Refused | None) -> Mapping[str, str]:
    """Return the messages by field; a box of a group stands for the group."""
    problems = refused.problems if refused else ()
    return {each.field.partition("[")[0] or "form": request.tell(each) for each in problems}


def _checked(request: PageRequest, prefix: str) -> list[str]:
    return [name.removeprefix(prefix) for name in request.fields if name.startswith(prefix)]
