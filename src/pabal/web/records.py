"""Records made from what is kept: how a profile, a message, a template is shown to callers."""

from msgspec import UNSET, UnsetType

from pabal.checks.locale import Speech
from pabal.domain import dates, phone
from pabal.domain.category import Category
from pabal.domain.codes import Words
from pabal.domain.dates import Instant
from pabal.domain.message import Status
from pabal.domain.profile import Profile
from pabal.domain.simulated_message import Arrival
from pabal.domain.suspension import Bar
from pabal.domain.template import Template
from pabal.models.answers import (
    ButtonItem,
    CategoryItem,
    CategoryRef,
    Counts,
    ImageItem,
    Labelled,
    MessageItem,
    PhoneItem,
    RequestItem,
    SenderItem,
    TemplateCategoryItem,
    TemplateItem,
)
from pabal.service.history.history import Outlook
from pabal.service.sending import compose
from pabal.store.messages import Message
from pabal.store.requests import Request


def labelled(word: str, label: Words, speech: Speech) -> Labelled:
    """Return a coded value with its label in the caller's language."""
    return Labelled(word, label.in_locale(speech.locale))


def category_item(category: Category) -> CategoryItem:
    """Return the record of a profile category."""
    return CategoryItem(category.code, category.name, category.code, category.name)


def template_category_item(category: Category) -> TemplateCategoryItem:
    """Return the record of a template category."""
    return TemplateCategoryItem(category.code, category.name, category.code, category.name, category.group or UNSET)


def new_sender_item(profile: Profile, category: Category | None, speech: Speech) -> SenderItem:
    """Return the record of a profile as the registration answers it."""
    name = category.name if category else profile.category
    return SenderItem(
        channelId=profile.channel_id,
        category=CategoryRef(profile.category, name, profile.category),
        senderKey=profile.sender_key or UNSET,
        cellphone=phone.hyphenated(profile.cellphone) if profile.cellphone else "",
        authStatus=labelled(profile.status.word, profile.status.label, speech),
    )


def sender_item(profile: Profile, category: Category | None, speech: Speech) -> SenderItem:
    """Return the record of a profile as lists show it."""
    item = new_sender_item(profile, category, speech)
    item.id = str(profile.id)
    item.label = profile.channel_id
    item.enable = profile.is_enabled and profile.bar is None
    item.disabledReason = _out_of_use(profile.is_enabled, profile.bar, speech)
    item.created = speech.stamp(profile.created_at)
    item.changed = speech.stamp(profile.changed_at)
    return item


_BY_OPERATOR = Words("운영자가 사용을 중지했습니다.", "The operator has put it out of use.")


def _out_of_use(is_enabled: bool, bar: Bar | None, speech: Speech) -> Labelled | UnsetType:
    """Return why something is out of use; what the operator decided comes first."""
    if not is_enabled:
        return labelled("operator", _BY_OPERATOR, speech)
    return labelled(bar.word, bar.label, speech) if bar else UNSET


def message_item(message: Message, request: Request, requested_at: Instant, speech: Speech) -> MessageItem:
    """Return the record of a message."""
    origin = compose.origin_of(message, request)
    outcome = message.outcome
    receiver = phone.hyphenated(message.receiver) if message.receiver else ""
    is_fallback = origin is not None
    return MessageItem(
        id=message.id.hex(),
        label=receiver,
        messageId=message.id.hex(),
        requestId=request.id.hex(),
        messageProductType=labelled(message.product.word, message.product.label, speech),
        sendingStatus=labelled(message.status.word, message.status.label, speech),
        resultCode=labelled(str(outcome.number), outcome.label, speech) if outcome else UNSET,
        receiver=receiver,
        reference=message.reference or UNSET,
        originMessageId=origin.hex() if origin is not None else UNSET,
        channelId=request.channel_id or UNSET,
        senderKey=request.sender_key or UNSET,
        templateCode=(None if is_fallback else request.template_code) or UNSET,
        yyyyMM=dates.month_of(request.scheduled_at, speech.zone),
        requestDate=speech.stamp(requested_at),
        scheduledDate=speech.stamp(request.scheduled_at),
        completedDate=speech.stamp(message.completed_at) if message.completed_at is not None else UNSET,
        subject=compose.subject_of(message, request) or UNSET,
        content=compose.content_of(message, request),
    )


def request_item(outlook: Outlook, requested_at: Instant, speech: Speech) -> RequestItem:
    """Return the record of a send."""
    request = outlook.request
    return RequestItem(
        request.id.hex(),
        labelled(request.product.word, request.product.label, speech),
        speech.stamp(requested_at),
        speech.stamp(request.scheduled_at),
        sum(outlook.counts.values()),
        Counts(**{status.word: outlook.counts.get(status, 0) for status in Status}),
    )


def template_item(template: Template, speech: Speech) -> TemplateItem:
    """Return the record of a template."""
    design = template.design
    return TemplateItem(
        id=str(template.id),
        label=design.name,
        senderKey=template.sender_key,
        channelId=template.channel_id,
        templateCode=template.code,
        name=design.name,
        content=design.content,
        category=design.category,
        messageType=design.messageType,
        emphasisType=design.emphasisType,
        emphasisTitle=design.emphasisTitle or UNSET,
        emphasisAssistPhrase=design.emphasisAssistPhrase or UNSET,
        moreInfo=design.moreInfo or UNSET,
        image=ImageItem(design.imageName) if design.imageName else UNSET,
        imageLink=design.imageLink or UNSET,
        securityTemplate=design.securityTemplate,
        buttons=[button_item(one) for one in design.buttons],
        variables=list(design.variables),
        status=labelled(template.status.word, template.status.label, speech),
        comment=template.comment or UNSET,
        enable=template.is_enabled and template.bar is None,
        disabledReason=_out_of_use(template.is_enabled, template.bar, speech),
        created=speech.stamp(template.created_at),
        changed=speech.stamp(template.changed_at),
    )


def button_item(fields: dict[str, str | int]) -> ButtonItem:
    """Return the record of a button."""
    return ButtonItem(**fields)  # type: ignore[arg-type]


def phone_item(arrival: Arrival, speech: Speech) -> PhoneItem:
    """Return the record of a message on a simulated phone."""
    return PhoneItem(
        time=speech.stamp(arrival.arrives_at or arrival.taken_at),
        kind=arrival.kind,
        sender=arrival.sender,
        subject=arrival.subject or UNSET,
        content=arrival.content,
        buttons=[button_item(one) for one in arrival.buttons],
        image=arrival.has_image,
    )
