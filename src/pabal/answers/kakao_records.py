"""Records of sender profiles and templates."""

from typing import Any

from msgspec import UNSET, UnsetType

from pabal.answers.message_records import label_value
from pabal.checks.body.fields import API_LINK_FIELDS, to_api_fields
from pabal.checks.body.locale import Locale
from pabal.domain.base.codes import Text
from pabal.domain.content.button import Button
from pabal.domain.kakao.profile import Category, Profile, Suspension
from pabal.domain.kakao.template import Template
from pabal.domain.kakao.template_parts import TemplateParts
from pabal.domain.people import phone
from pabal.models.answers import (
    ButtonItem,
    CategoryRef,
    ImageItem,
    ItemHighlightItem,
    ItemLineItem,
    ItemListItem,
    LabelledValue,
    RepresentLinkItem,
    SenderItem,
    TemplateItem,
)

_DISABLED_BY_OPERATOR = Text("운영자가 사용을 중지했습니다.", "The operator has disabled it.")


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
    item.disabledReason = build_disabled_reason(profile.is_enabled, profile.suspension, locale)
    item.created = locale.format_timestamp(profile.created_at)
    item.changed = locale.format_timestamp(profile.changed_at)
    return item


def build_disabled_reason(is_enabled: bool, bar: Suspension | None, locale: Locale) -> LabelledValue | UnsetType:
    """Return why a profile or template is disabled; the operator's decision comes first."""
    if not is_enabled:
        return label_value("operator", _DISABLED_BY_OPERATOR, locale)
    return label_value(bar.code, bar.label, locale) if bar else UNSET


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
        disabledReason=build_disabled_reason(template.is_enabled, template.suspension, locale),
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
