"""Checks what a call says about webhooks, and builds their records."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from msgspec import UNSET, UnsetType

from pabal.checks.body.call import ApiCall
from pabal.checks.body.fields import allowed_values, one_of
from pabal.checks.body.forms import Form
from pabal.checks.body.locale import Locale
from pabal.domain.base import dates
from pabal.domain.base.codes import Code, Problem, Refused, Text, at_most_characters, require
from pabal.domain.base.dates import DAY, Instant
from pabal.domain.content import text
from pabal.domain.events.event import EventType, format_event_id, parse_cursor
from pabal.domain.events.webhook import (
    MAX_DESCRIPTION_CHARACTERS,
    MAX_ID_DIGITS,
    MAX_REPLAY,
    ORDERED_EVENTS,
    WEBHOOK_FORMAT_BY_CODE,
    Webhook,
    WebhookState,
)
from pabal.domain.sends.message import PRODUCT_BY_CODE, Product
from pabal.models.answers import LabelledValue
from pabal.models.webhooks import DeliveryItem, UnsignedPost, WebhookItem, WebhookTestItem
from pabal.service.webhooks.fan_out import NewPost
from pabal.service.webhooks.manage import ListedWebhook, WebhookFields
from pabal.service.webhooks.tries import decode_answer, describe_error, format_post_id
from pabal.settings.carriers import SENDABLE
from pabal.store.events.webhook_posts import DeliveryTry
from pabal.webhooks.permitted_addresses import parse_url
from pabal.webhooks.poster import PostError, PostResult

T = TypeVar("T")
POST_ID_BYTES = 16
EVENT_CHOICES: Mapping[str, EventType] = {each.code: each for each in ORDERED_EVENTS}
PRODUCT_CHOICES: Mapping[str, Product] = {each.code: PRODUCT_BY_CODE[each.code] for each in SENDABLE}
ERROR_WORDS = frozenset(each.value for each in PostError)
"""The words that the error of a delivery can begin with."""
EXPIRED_CURSOR = Text(
    "너무 오래된 cursor입니다. 그 뒤의 결과가 이미 삭제되었습니다. cursor 없이 다시 시작하세요.",
    "The cursor is too old: results after it have been deleted. Begin again without a cursor.",
)
_NOT_WITH_CURSOR = Text("cursor와 함께 쓸 수 없습니다.", "It cannot be given together with cursor.")
_UNREADABLE_CURSOR = Text(
    "앞선 응답의 nextCursor를 그대로 보내세요.", "Send the nextCursor of an earlier answer as it is."
)


def read_new_fields(form: Form[Any]) -> WebhookFields:
    """Return what a new webhook consists of.

    Raises Refused.
    """
    url, events = form.read("url", check_url), form.read("events", _parse_events)
    return _read_optional_fields(form, WebhookFields(url, events))


def read_changes(form: Form[Any]) -> tuple[int, WebhookFields]:
    """Return which webhook to change, and how.

    Raises Refused.
    """
    webhook_id, body = form.read("webhookId", parse_id), form.body
    url, events = form.read_optional("url", check_url), form.read_optional("events", _parse_events)
    fields = WebhookFields(url, events, None, None, body.enabled, bool(body.rotateSecret), body.replay is False)
    return webhook_id, _read_optional_fields(form, fields)


def _read_optional_fields(form: Form[Any], fields: WebhookFields) -> WebhookFields:
    """Return the fields of a webhook with those that are never required.

    Raises Refused.
    """
    products = form.read_optional("products", lambda given: _parse_words(given, PRODUCT_CHOICES))
    description = form.read_optional("description", check_description)
    webhook_format = form.read_optional("format", one_of(WEBHOOK_FORMAT_BY_CODE))
    form.raise_problems()
    return fields._replace(products=products, description=description, format=webhook_format)


def read_id(form: Form[Any]) -> int:
    """Return which webhook is meant.

    Raises Refused.
    """
    webhook_id = form.read("webhookId", parse_id)
    form.raise_problems()
    return webhook_id


def read_replay(call: ApiCall) -> tuple[int, Instant]:
    """Return which webhook to post to again, and since when.

    Raises Refused.
    """
    webhook_id = call.form.read("webhookId", parse_id)
    since = call.form.read("since", lambda given: parse_since(given, call.now, call.locale))
    call.form.raise_problems()
    return webhook_id, since


def read_begin(call: ApiCall) -> dict[int, int] | Instant | None:
    """Return from where on to list events: positions, an instant, or None for now.

    Raises Refused.
    """
    positions = call.form.read_optional("cursor", parse_positions)
    since = call.form.read_optional("since", lambda given: parse_since(given, call.now, call.locale))
    if positions is not None and since is not None:
        call.form.add(Problem(Code.INVALID_PARAMETER, "since", _NOT_WITH_CURSOR))
    call.form.raise_problems()
    return since if positions is None else positions


def parse_positions(spelling: str) -> dict[int, int]:
    """Return how far events were read.

    Raises Refused(INVALID_PARAMETER) for what is no cursor.
    """
    return require(parse_cursor(spelling), Code.INVALID_PARAMETER, detail=_UNREADABLE_CURSOR)


def build_unsigned_post(post: NewPost) -> UnsignedPost:
    """Return the record of what webhooks would be told; the same events have the same id."""
    return UnsignedPost(
        id=format_post_id(hashlib.sha256(b"".join(post.event_ids)).digest()[:POST_ID_BYTES]),
        type=post.type.code,
        eventIds=[format_event_id(each) for each in post.event_ids],
        body=post.body.decode(),
    )


def parse_id(spelling: str) -> int:
    """Return the id of a webhook.

    Raises Refused(WEBHOOK_NOT_FOUND) for what can be no id.
    """
    if not spelling.isascii() or not spelling.isdigit() or len(spelling) > MAX_ID_DIGITS:
        raise Refused(Code.WEBHOOK_NOT_FOUND)
    return int(spelling)


def check_url(spelling: str) -> str:
    """Return the address of a webhook.

    Raises Refused(INVALID_PARAMETER).
    """
    try:
        parse_url(spelling)
    except Refused as refused:
        raise Refused(refused.code, detail=refused.problems[0].detail) from None
    return spelling


def check_description(given: str) -> str:
    """Return a normalized description.

    Raises Refused(INVALID_PARAMETER).
    """
    found = text.normalize(given[: 4 * MAX_DESCRIPTION_CHARACTERS]).strip()
    if len(given) > 4 * MAX_DESCRIPTION_CHARACTERS or len(found) > MAX_DESCRIPTION_CHARACTERS:
        raise Refused(Code.INVALID_PARAMETER, detail=at_most_characters(MAX_DESCRIPTION_CHARACTERS))
    return found


def parse_since(spelling: str, now: Instant, locale: Locale) -> Instant:
    """Return since when events are posted again.

    Raises Refused(INVALID_DATE) for a wrong format, a time in the future or too long ago.
    """
    at = dates.parse_minute(spelling, locale.zone)
    if at > now:
        raise Refused(Code.INVALID_DATE, detail=Text("아직 오지 않은 시각입니다.", "The time is in the future."))
    if at < now - MAX_REPLAY:
        days = MAX_REPLAY // DAY
        detail = Text(f"최근 {days}일 안이어야 합니다.", f"It must be within the last {days} days.")
        raise Refused(Code.INVALID_DATE, detail=detail)
    return at


def build_webhook_item(listed: ListedWebhook, locale: Locale, secret: str | None = None) -> WebhookItem:
    """Return the record of a webhook."""
    webhook, backlog = listed
    format_date = locale.format_timestamp
    return WebhookItem(
        id=str(webhook.id),
        label=webhook.url,
        webhookId=str(webhook.id),
        url=webhook.url,
        events=[each.code for each in ORDERED_EVENTS if each in webhook.events],
        products=[word for word, each in PRODUCT_CHOICES.items() if each in webhook.products],
        description=webhook.description or UNSET,
        format=webhook.format.code,
        state=LabelledValue(webhook.state.code, webhook.state.label.in_language(locale.language)),
        disabledReason=_disabled_reason(webhook),
        secret=secret or UNSET,
        previousSecretUntil=format_date(webhook.previous_until) if webhook.previous_until else UNSET,
        lastSuccess=format_date(webhook.last_success_at) if webhook.last_success_at else UNSET,
        failures=webhook.failures,
        backlog=backlog,
        dropped=webhook.dropped,
        created=format_date(webhook.created_at),
        changed=format_date(webhook.changed_at),
    )


def _disabled_reason(webhook: Webhook) -> str | UnsetType:
    if webhook.state is not WebhookState.DISABLED:
        return UNSET
    return "gone" if webhook.is_gone else "owner"


def build_test_item(result: PostResult) -> WebhookTestItem:
    """Return the record of what came back from a test."""
    return WebhookTestItem(
        status=UNSET if result.status is None else result.status,
        answer=decode_answer(result.answer),
        error=describe_error(result) or UNSET,
        durationMs=result.duration_ms,
    )


def build_delivery_item(delivery: DeliveryTry, locale: Locale) -> DeliveryItem:
    """Return the record of a try."""
    return DeliveryItem(
        id=format_post_id(delivery.post_id),
        time=locale.format_timestamp(delivery.tried_at),
        tryNumber=delivery.number,
        eventIds=[format_event_id(each) for each in delivery.event_ids],
        status=UNSET if delivery.status is None else delivery.status,
        answer=delivery.answer,
        error=delivery.error or UNSET,
        durationMs=delivery.duration_ms,
    )


def _parse_events(given: Sequence[Any]) -> list[EventType]:
    if not given:
        raise Refused(Code.MISSING_PARAMETER)
    return _parse_words(given, EVENT_CHOICES)


def _parse_words(given: Sequence[Any], choices: Mapping[str, T]) -> list[T]:
    """Return the values of some words, each once.

    Raises Refused(INVALID_PARAMETER), naming the first that is none of the choices.
    """
    wrong = next((index for index, word in enumerate(given) if word not in choices), None)
    if wrong is not None:
        raise Refused.from_problems([Problem(Code.INVALID_PARAMETER, f"[{wrong}]", allowed_values(choices))])
    return [choices[word] for word in dict.fromkeys(given)]
