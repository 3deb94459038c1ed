"""Builds the records of sender profiles, for the API and for webhooks."""

from msgspec import UNSET, UnsetType

from pabal.answers.message_records import label_value
from pabal.checks.body.locale import Locale
from pabal.domain.base.codes import Text
from pabal.domain.kakao.category import Category
from pabal.domain.kakao.profile import Profile
from pabal.domain.kakao.suspension import Suspension
from pabal.domain.people import phone
from pabal.models.answers import CategoryRef, LabelledValue, SenderItem

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
