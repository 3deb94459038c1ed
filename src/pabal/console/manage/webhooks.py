"""The pages of webhooks: list, create, test, pause, rotate the secret, deliveries, replay."""

from collections.abc import Mapping

from starlette.responses import Response

from pabal.checks import webhooks as checks
from pabal.console.shell.page_request import PageRequest
from pabal.domain.codes import Code, Refused
from pabal.domain.webhook import MAX_WEBHOOKS
from pabal.models.webhooks import CreateWebhook, ReplayWebhook
from pabal.service.webhooks import manage, trial
from pabal.service.webhooks.manage import ListedWebhook, WebhookFields

WEBHOOKS_PATH = "/console/webhooks"
EVENT_FIELD, PRODUCT_FIELD = "event.", "product."
"""What the names of check boxes begin with."""
SHOWN_DELIVERIES = 20


async def list_webhooks(request: PageRequest) -> Response:
    """Show the account's webhooks, and a form for a new one."""
    return await _render_list(request)


async def create_webhook(request: PageRequest) -> Response:
    """Create a webhook and show its secret, once."""
    fields = {
        "url": request.field("url"),
        "events": _checked(request, EVENT_FIELD),
        "products": _checked(request, PRODUCT_FIELD),
        "description": request.field("description"),
    }
    try:
        call = request.api_call(CreateWebhook, fields)
        new = checks.read_new_fields(call.form)
        entry = request.audit_entry("webhook.create")
        made = await manage.create(request.context, request.account_id, new, entry)
    except Refused as refused:
        return await _render_list(request, refused)
    return _render_secret(request, made.webhook_id, made.secret)


async def show_webhook(request: PageRequest) -> Response:
    """Show a webhook with its last deliveries.

    Raises Refused(WEBHOOK_NOT_FOUND).
    """
    return await _render_webhook(request)


async def set_state(request: PageRequest) -> Response:
    """Pause a webhook, or use it again.

    Raises Refused(WEBHOOK_NOT_FOUND).
    """
    await _update(request, WebhookFields(is_enabled=request.field("enabled") == "true"))
    return request.redirect(f"{WEBHOOKS_PATH}/{_id(request)}")


async def rotate_secret(request: PageRequest) -> Response:
    """Make a new secret and show it, once; the old one signs along for a day.

    Raises Refused(WEBHOOK_NOT_FOUND).
    """
    secret = await _update(request, WebhookFields(rotates_secret=True))
    return _render_secret(request, _id(request), secret or "")


async def send_test(request: PageRequest) -> Response:
    """Post a test event and show what came back.

    Raises Refused(WEBHOOK_NOT_FOUND).
    """
    try:
        result = await trial.send_test(request.context, request.account_id, _id(request))
    except Refused as refused:
        if refused.code is not Code.RATE_LIMITED:
            raise
        return await _render_webhook(request, refused)
    tested = checks.build_test_item(result)
    return await _render_webhook(request, tested=tested, is_success=result.is_success)


async def replay_events(request: PageRequest) -> Response:
    """Post events again.

    Raises Refused: WEBHOOK_NOT_FOUND, INVALID_STATE.
    """
    since = request.field("since").replace("T", " ")
    call = request.api_call(ReplayWebhook, {"webhookId": str(_id(request)), "since": since})
    try:
        webhook_id, at = checks.read_replay(call)
    except Refused as refused:
        return await _render_webhook(request, refused)
    entry = request.audit_entry("webhook.replay", str(webhook_id))
    await manage.replay(request.context, request.account_id, webhook_id, at, entry)
    return await _render_webhook(request, is_replayed=True)


async def delete_webhook(request: PageRequest) -> Response:
    """Delete a webhook.

    Raises Refused(WEBHOOK_NOT_FOUND).
    """
    entry = request.audit_entry("webhook.delete", str(_id(request)))
    await manage.delete(request.context, request.account_id, _id(request), entry)
    return request.redirect(WEBHOOKS_PATH)


def _id(request: PageRequest) -> int:
    return checks.parse_id(request.http.path_params["webhook"])


def _checked(request: PageRequest, prefix: str) -> list[str]:
    return [name.removeprefix(prefix) for name in request.fields if name.startswith(prefix)]


async def _update(request: PageRequest, fields: WebhookFields) -> str | None:
    """Change a webhook; return its new secret, if it has one."""
    webhook_id = _id(request)
    entry = request.audit_entry("webhook.update", str(webhook_id))
    _, secret = await manage.update(request.context, request.account_id, webhook_id, fields, entry)
    return secret


def _errors(request: PageRequest, refused: Refused | None) -> Mapping[str, str]:
    """Return the messages by field; a box of a group stands for the group."""
    if refused is None:
        return {}
    language = request.locale.language
    return {each.field.partition("[")[0] or "form": each.message(language) for each in refused.problems}


def _render_secret(request: PageRequest, webhook_id: int, secret: str) -> Response:
    return request.render("manage/webhook_secret.html", secret=secret, path=f"{WEBHOOKS_PATH}/{webhook_id}")


async def _render_list(request: PageRequest, refused: Refused | None = None) -> Response:
    found = await manage.list_all(request.context, request.account_id)
    chosen = {"message.result"} if refused is None else set(_checked(request, EVENT_FIELD))
    return request.render(
        "manage/webhooks.html",
        refused.code.http_status if refused else 200,
        rows=[_row(request, each) for each in found],
        may_add=len(found) < MAX_WEBHOOKS,
        most=MAX_WEBHOOKS,
        events=[(word, word in chosen) for word in checks.EVENT_CHOICES],
        products=[
            (word, each.label, word in _checked(request, PRODUCT_FIELD))
            for word, each in checks.PRODUCT_CHOICES.items()
        ],
        typed={name: request.field(name) if refused else "" for name in ("url", "description")},
        errors=_errors(request, refused),
    )


def _row(request: PageRequest, listed: ListedWebhook) -> tuple[ListedWebhook, str]:
    last = listed.webhook.last_success_at
    return listed, request.locale.format_timestamp(last) if last else ""


async def _render_webhook(request: PageRequest, refused: Refused | None = None, **more: object) -> Response:
    webhook_id = _id(request)
    listed = await manage.get(request.context, request.account_id, webhook_id)
    _, tries = await manage.list_deliveries(request.context, request.account_id, webhook_id, 1, SHOWN_DELIVERIES)
    values = {"tested": None, "is_success": False, "is_replayed": False, **more}
    return request.render(
        "manage/webhook.html",
        refused.code.http_status if refused else 200,
        listed=listed,
        item=checks.build_webhook_item(listed, request.locale),
        state=listed.webhook.state,
        tries=[(checks.build_delivery_item(each, request.locale), each) for each in tries],
        path=f"{WEBHOOKS_PATH}/{webhook_id}",
        since=request.field("since"),
        errors=_errors(request, refused),
        **values,
    )
