"""The form of a webhook: what it shows, what was typed into it, and what is wrong with that."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from pabal.checks import webhooks as checks
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Refused, Text
from pabal.domain.events.webhook import Webhook, WebhookState
from pabal.models.webhooks import CreateWebhook
from pabal.service.webhooks.manage import WebhookFields

EVENT_FIELD, PRODUCT_FIELD, ENABLED_FIELD = "event.", "product.", "enabled"
"""What the names of check boxes begin with; the last is one name."""
DEFAULT_EVENTS = ("message.result",)


class WebhookForm(NamedTuple):
    """What the fields of the form contain, and the messages about them, by field."""

    url: str
    description: str
    events: list[tuple[str, bool]]
    """Each event, and whether it is checked."""
    products: list[tuple[str, Text, bool]]
    """Each product with its label, and whether it is checked."""
    is_enabled: bool
    errors: Mapping[str, str]


def new_form() -> WebhookForm:
    """Return the form of a new webhook."""
    return _build("", "", DEFAULT_EVENTS, ())


def form_of(webhook: Webhook) -> WebhookForm:
    """Return the form that changes a webhook."""
    return _build(
        webhook.url,
        webhook.description,
        {each.code for each in webhook.events},
        {each.code for each in webhook.products},
        is_enabled=webhook.state is not WebhookState.DISABLED,
    )


def typed_form(request: PageRequest, refused: Refused) -> WebhookForm:
    """Return the form as it was sent, with what is wrong with it."""
    return _build(
        request.field("url"),
        request.field("description"),
        _checked(request, EVENT_FIELD),
        _checked(request, PRODUCT_FIELD),
        is_enabled=bool(request.field(ENABLED_FIELD)),
        errors=list_errors(request, refused),
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
    }
    return checks.read_new_fields(request.api_call(CreateWebhook, typed).form)


def list_errors(request: PageRequest, refused: Refused | None) -> Mapping[str, str]:
    """Return the messages by field; a box of a group stands for the group."""
    if refused is None:
        return {}
    language = request.locale.language
    return {each.field.partition("[")[0] or "form": each.message(language) for each in refused.problems}


def _build(
    url: str,
    description: str,
    events: Collection[str],
    products: Collection[str],
    *,
    is_enabled: bool = True,
    errors: Mapping[str, str] | None = None,
) -> WebhookForm:
    return WebhookForm(
        url,
        description,
        [(word, word in events) for word in checks.EVENT_CHOICES],
        [(word, each.label, word in products) for word, each in checks.PRODUCT_CHOICES.items()],
        is_enabled,
        errors or {},
    )


def _checked(request: PageRequest, prefix: str) -> list[str]:
    return [name.removeprefix(prefix) for name in request.fields if name.startswith(prefix)]
