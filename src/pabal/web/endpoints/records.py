"""Builds the records of answers: categories, requests and messages on simulated phones."""

import msgspec
from msgspec import UNSET, UnsetType

from pabal.answers.kakao_records import build_button_item, build_parts
from pabal.answers.message_records import label_value, unknown_value
from pabal.checks.body.locale import Locale
from pabal.domain.base.dates import Instant
from pabal.domain.brand.message import BrandAttachment, to_documented
from pabal.domain.kakao.profile import Category
from pabal.domain.sends.message import Status
from pabal.domain.sends.simulated_message import SimulatedMessage
from pabal.models.answers import (
    CategoryItem,
    PhoneItem,
    RequestItem,
    StatusCounts,
    TemplateCategoryItem,
)
from pabal.models.brand_bodies import AttachmentBody
from pabal.service.history.history import RequestDetails


def build_category_item(category: Category) -> CategoryItem:
    """Return the record of a profile category."""
    return CategoryItem(category.code, category.name, category.code, category.name)


def build_template_category_item(category: Category) -> TemplateCategoryItem:
    """Return the record of a template category."""
    return TemplateCategoryItem(category.code, category.name, category.code, category.name, category.group or UNSET)


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


def build_attachment(attachment: BrandAttachment) -> AttachmentBody | UnsetType:
    """Return the attachment of a brand message as the API writes it; nothing for an empty one."""
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
