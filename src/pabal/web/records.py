"""Builds the records of answers: profiles, requests and templates."""

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from pabal.checks.buttons import API_LINK_FIELDS, to_api_fields
from pabal.checks.locale import Locale
from pabal.checks.message_records import label_value, unknown_value
from pabal.domain import phone
from pabal.domain.brand.message import BrandAttachment, to_documented
from pabal.domain.button import Button
from pabal.domain.category import Category
from pabal.domain.codes import Text
from pabal.domain.dates import Instant
from pabal.domain.message import Status
from pabal.domain.profile import Profile
from pabal.domain.simulated_message import SimulatedMessage
from pabal.domain.suspension import Suspension
from pabal.domain.template import Template
from pabal.domain.template_parts import TemplateParts
from pabal.models.answers import (
    ButtonItem,
    CategoryItem,
    CategoryRef,
    ImageItem,
    ItemHighlightItem,
    ItemLineItem,
    ItemListItem,
    LabelledValue,
    PhoneItem,
    RepresentLinkItem,
    RequestItem,
    SenderItem,
    StatusCounts,
    TemplateCategoryItem,
    TemplateItem,
)
from pabal.models.brand_bodies import AttachmentBody
from pabal.service.history.history import RequestDetails


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


def build_request_item(outlook: RequestDetails, requested_at: Instant, locale: Locale) -> RequestItem:
    """Return the record of a send request; of one that cannot be read, what its id and its messages say."""
    request = outlook.request
    return RequestItem(
        outlook.request_id.hex(),
        label_value(request.product.code, request.product.label, locale) if request else unknown_value(locale),
        locale.format_timestamp(requested_at),
        locale.format_timestamp(request.scheduled_at if request else requested_at),
        sum(outlook.counts.values()),
        StatusCounts(**{status.code: outlook.counts.get(status, 0) for status in Status}),
        UNSET if request else True,
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
        **build_parts(latest.parts),
    )


def build_parts(parts: TemplateParts) -> dict[str, Any]:
    """Return the fields of a record for what an Alimtalk has beside its text."""
    found: dict[str, Any] = {}
    if parts.header:
        found["header"] = parts.header
    if parts.highlight:
        title, description, image_url = parts.highlight
        found["itemHighlight"] = ItemHighlightItem(
            title=title, description=description, imageUrl=image_url or UNSET
        )
    if parts.items:
        summary = ItemLineItem(*parts.summary) if parts.summary else UNSET
        found["itemList"] = ItemListItem(items=[ItemLineItem(*each) for each in parts.items], summary=summary)
    if parts.link:
        links = {field: link for field, link in to_api_fields(parts.link).items() if field in API_LINK_FIELDS}
        found["representLink"] = RepresentLinkItem(**links)  # type: ignore[arg-type]
    if parts.quick_replies:
        found["quickReplies"] = [build_button_item(each) for each in parts.quick_replies]
    return found


def build_button_item(button: Button) -> ButtonItem:
    """Return the record of a button."""
    return ButtonItem(**to_api_fields(button))  # type: ignore[arg-type]


def build_attachment(attachment: BrandAttachment) -> AttachmentBody | UnsetType:
    """Return the attachment of a brand message as the interface writes it; nothing for an empty one."""
    given = to_documented(attachment)
    return msgspec.convert(given, AttachmentBody) if given else UNSET


def build_phone_item(message: SimulatedMessage, locale: Locale) -> PhoneItem:
    """Return the record of a message on a simulated phone."""
    brand = message.brand
    return PhoneItem(
        time=locale.format_timestamp(message.arrives_at or message.accepted_at),
        kind=message.kind,
        sender=message.sender,
        subject=message.subject or UNSET,
        content=message.content,
        buttons=[build_button_item(one) for one in message.buttons],
        image=message.has_image,
        messageType=(brand.type if brand else None) or UNSET,
        targeting=brand.targeting if brand else UNSET,
        attachment=build_attachment(brand.attachment) if brand else UNSET,
        **build_parts(message.parts),
    )
