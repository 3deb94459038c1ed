"""Builds the records of answers: profiles, messages, requests and templates."""

from msgspec import UNSET, UnsetType

from pabal.checks.buttons import to_api_fields
from pabal.checks.locale import Locale
from pabal.domain import dates, phone
from pabal.domain.button import Button
from pabal.domain.category import Category
from pabal.domain.codes import Text
from pabal.domain.dates import Instant
from pabal.domain.message import Status
from pabal.domain.profile import Profile
from pabal.domain.simulated_message import SimulatedMessage
from pabal.domain.suspension import Suspension
from pabal.domain.template import Template
from pabal.models.answers import (
    ButtonItem,
    CategoryItem,
    CategoryRef,
    ImageItem,
    LabelledValue,
    MessageItem,
    PhoneItem,
    RequestItem,
    SenderItem,
    StatusCounts,
    TemplateCategoryItem,
    TemplateItem,
)
from pabal.service.history.history import RequestDetails
from pabal.service.sending import compose
from pabal.store.messages import Message
from pabal.store.requests import Request


def label_value(word: str, label: Text, locale: Locale) -> LabelledValue:
    """Return a coded value with its label in the caller's language."""
    return LabelledValue(word, label.in_language(locale.language))


def build_category_item(category: Category) -> CategoryItem:
    """Return the record of a profile category."""
    return CategoryItem(category.code, category.name, category.code, category.name)


def build_template_category_item(category: Category) -> TemplateCategoryItem:
    """Return the record of a template category."""
    return TemplateCategoryItem(category.code, category.name, category.code, category.name, category.group or UNSET)


def build_new_sender_item(profile: Profile, category: Category | None, locale: Locale) -> SenderItem:
    """Return the record of a profile for the answer to its registration."""
    name = category.name if category else profile.category
    return SenderItem(
        channelId=profile.channel_id,
        category=CategoryRef(profile.category, name, profile.category),
        senderKey=profile.sender_key or UNSET,
        cellphone=phone.hyphenate(profile.cellphone) if profile.cellphone else "",
        authStatus=label_value(profile.status.code, profile.status.label, locale),
    )


def build_sender_item(profile: Profile, category: Category | None, locale: Locale) -> SenderItem:
    """Return the record of a profile for lists."""
    item = build_new_sender_item(profile, category, locale)
    item.id = str(profile.id)
    item.label = profile.channel_id
    item.enable = profile.is_enabled and profile.suspension is None
    item.disabledReason = _disabled_reason(profile.is_enabled, profile.suspension, locale)
    item.created = locale.format_timestamp(profile.created_at)
    item.changed = locale.format_timestamp(profile.changed_at)
    return item


_DISABLED_BY_OPERATOR = Text("운영자가 사용을 중지했습니다.", "The operator has disabled it.")


def _disabled_reason(is_enabled: bool, bar: Suspension | None, locale: Locale) -> LabelledValue | UnsetType:
    """Return why a profile or template is disabled; the operator's decision comes first."""
    if not is_enabled:
        return label_value("operator", _DISABLED_BY_OPERATOR, locale)
    return label_value(bar.code, bar.label, locale) if bar else UNSET


def build_message_item(message: Message, request: Request, requested_at: Instant, locale: Locale) -> MessageItem:
    """Return the record of a message."""
    origin = compose.origin_of(message, request)
    outcome = message.outcome
    receiver = phone.hyphenate(message.receiver) if message.receiver else ""
    is_fallback = origin is not None
    return MessageItem(
        id=message.id.hex(),
        label=receiver,
        messageId=message.id.hex(),
        requestId=request.id.hex(),
        messageProductType=label_value(message.product.code, message.product.label, locale),
        sendingStatus=label_value(message.status.code, message.status.label, locale),
        resultCode=label_value(str(outcome.number), outcome.label, locale) if outcome else UNSET,
        receiver=receiver,
        reference=message.reference or UNSET,
        originMessageId=origin.hex() if origin is not None else UNSET,
        channelId=request.channel_id or UNSET,
        senderKey=request.sender_key or UNSET,
        templateCode=(None if is_fallback else request.template_code) or UNSET,
        yyyyMM=dates.format_month(request.scheduled_at, locale.zone),
        requestDate=locale.format_timestamp(requested_at),
        scheduledDate=locale.format_timestamp(request.scheduled_at),
        completedDate=locale.format_timestamp(message.completed_at) if message.completed_at is not None else UNSET,
        subject=compose.subject_of(message, request) or UNSET,
        content=compose.content_of(message, request),
    )


def build_request_item(outlook: RequestDetails, requested_at: Instant, locale: Locale) -> RequestItem:
    """Return the record of a send request."""
    request = outlook.request
    return RequestItem(
        request.id.hex(),
        label_value(request.product.code, request.product.label, locale),
        locale.format_timestamp(requested_at),
        locale.format_timestamp(request.scheduled_at),
        sum(outlook.counts.values()),
        StatusCounts(**{status.code: outlook.counts.get(status, 0) for status in Status}),
    )


def build_template_item(template: Template, locale: Locale) -> TemplateItem:
    """Return the record of a template."""
    latest = template.latest
    return TemplateItem(
        id=str(template.id),
        label=latest.name,
        senderKey=template.sender_key,
        channelId=template.channel_id,
        templateCode=template.code,
        name=latest.name,
        content=latest.content,
        category=latest.category,
        messageType=latest.message_type,
        emphasisType=latest.emphasis_type,
        emphasisTitle=latest.emphasis_title or UNSET,
        emphasisAssistPhrase=latest.emphasis_assist_phrase or UNSET,
        moreInfo=latest.more_info or UNSET,
        image=ImageItem(latest.image_name) if latest.image_name else UNSET,
        imageLink=latest.image_link or UNSET,
        securityTemplate=latest.is_security_template,
        buttons=[build_button_item(one) for one in latest.buttons],
        variables=list(latest.variables),
        status=label_value(template.status.code, template.status.label, locale),
        comment=template.comment or UNSET,
        enable=template.is_enabled and template.suspension is None,
        disabledReason=_disabled_reason(template.is_enabled, template.suspension, locale),
        created=locale.format_timestamp(template.created_at),
        changed=locale.format_timestamp(template.changed_at),
    )


def build_button_item(button: Button) -> ButtonItem:
    """Return the record of a button."""
    return ButtonItem(**to_api_fields(button))  # type: ignore[arg-type]


def build_phone_item(message: SimulatedMessage, locale: Locale) -> PhoneItem:
    """Return the record of a message on a simulated phone."""
    return PhoneItem(
        time=locale.format_timestamp(message.arrives_at or message.accepted_at),
        kind=message.kind,
        sender=message.sender,
        subject=message.subject or UNSET,
        content=message.content,
        buttons=[build_button_item(one) for one in message.buttons],
        image=message.has_image,
    )
