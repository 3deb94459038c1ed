"""What callers get back: the shapes of answers, and records made from what is kept."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from pabal.domain import phone, when
from pabal.domain.arrival import Arrival
from pabal.domain.category import Category
from pabal.domain.codes import Words
from pabal.domain.message import Status
from pabal.domain.profile import Profile
from pabal.domain.template import Template
from pabal.domain.when import Instant
from pabal.service import compose
from pabal.service.history import Outlook
from pabal.store.messages import Message
from pabal.store.requests import Request
from pabal.web.speech import Speech

DATE = Meta(description="yyyy-MM-dd HH:mm:ss", examples=["2026-11-15 10:12:03"])
Date = Annotated[str, DATE]


class Labelled(Struct):
    """A coded value and its name in the locale of the answer."""

    value: str
    label: str


class ErrorItem(Struct):
    """One thing that is wrong with a request."""

    field: str
    code: str
    message: str


class Envelope(Struct, kw_only=True):
    """What every answer has."""

    time: Annotated[
        str,
        Meta(description="ISO 8601 with milliseconds and offset.", examples=["2026-11-15T10:12:03.123+09:00"]),
    ]
    result: Annotated[str, Meta(description="SUCCESS, or why not.", examples=["SUCCESS"])]
    resultMessage: str
    locale: Annotated[str, Meta(description="ko or en.", examples=["ko"])]
    errors: Annotated[
        list[ErrorItem] | UnsetType, Meta(description="Of a refusal: everything that the same check found.")
    ] = UNSET


class ListEnvelope(Envelope, kw_only=True):
    """What every list has."""

    totalCount: int
    resultCount: int


class PagedEnvelope(ListEnvelope, kw_only=True):
    """What every paged list has."""

    pageSize: int
    pageCount: int
    currentPage: int


class CategoryItem(Struct):
    """A category."""

    id: str
    label: str
    code: str
    name: str


class TemplateCategoryItem(CategoryItem):
    """A category of templates, with its group."""

    groupName: str | UnsetType = UNSET


class CategoryRef(Struct):
    """A category, as a profile names it."""

    value: str
    label: str
    refId: str


class SenderItem(Struct, kw_only=True):
    """A sender profile."""

    id: str | UnsetType = UNSET
    label: str | UnsetType = UNSET
    channelId: str
    category: CategoryRef
    senderKey: str | UnsetType = UNSET
    cellphone: str
    authStatus: Labelled
    enable: bool | UnsetType = UNSET
    created: Date | UnsetType = UNSET
    changed: Date | UnsetType = UNSET


class SentItem(Struct):
    """The send request that was kept."""

    requestId: str


class MessageItem(Struct, kw_only=True):
    """A message and what became of it."""

    id: str
    label: str
    messageId: str
    requestId: str
    messageProductType: Labelled
    sendingStatus: Labelled
    resultCode: Labelled | UnsetType = UNSET
    receiver: str
    reference: str | UnsetType = UNSET
    originMessageId: str | UnsetType = UNSET
    channelId: str | UnsetType = UNSET
    senderKey: str | UnsetType = UNSET
    templateCode: str | UnsetType = UNSET
    yyyyMM: str
    requestDate: Date
    scheduledDate: Date
    completedDate: Date | UnsetType = UNSET
    subject: str | UnsetType = UNSET
    content: str


class Counts(Struct):
    """How many messages stand where."""

    waiting: int
    sending: int
    completed: int
    fail: int
    cancel: int


class RequestItem(Struct):
    """What became of one send."""

    requestId: str
    messageProductType: Labelled
    requestDate: Date
    scheduledDate: Date
    totalCount: int
    counts: Counts


class CancelItem(Struct):
    """How many messages were meant, and how many of them are cancelled now."""

    requestedCount: int
    canceledCount: int


class ButtonItem(Struct, kw_only=True):
    """A button under a message."""

    buttonType: str
    name: str
    mobileUrl: str | UnsetType = UNSET
    pcUrl: str | UnsetType = UNSET
    androidUrl: str | UnsetType = UNSET
    iosUrl: str | UnsetType = UNSET
    chatExtra: str | UnsetType = UNSET
    chatEvent: str | UnsetType = UNSET
    target: str | UnsetType = UNSET
    orderNo: int | UnsetType = UNSET


class ImageItem(Struct):
    """A picture, without its bytes."""

    fileName: str


class TemplateItem(Struct, kw_only=True):
    """A template."""

    id: str
    label: str
    senderKey: str
    channelId: str
    templateCode: str
    name: str
    content: str
    category: str
    messageType: str
    emphasisType: str
    emphasisTitle: str | UnsetType = UNSET
    emphasisAssistPhrase: str | UnsetType = UNSET
    moreInfo: str | UnsetType = UNSET
    image: ImageItem | UnsetType = UNSET
    imageLink: str | UnsetType = UNSET
    securityTemplate: bool
    buttons: list[ButtonItem]
    variables: list[str]
    status: Labelled
    comment: str | UnsetType = UNSET
    enable: bool
    created: Date
    changed: Date


class PhoneItem(Struct, kw_only=True, rename={"sender": "from"}):
    """What a simulated phone received."""

    time: Date
    kind: Annotated[str, Meta(description="A messageProductType, or `token`.")]
    sender: str
    subject: str | UnsetType = UNSET
    content: str
    buttons: list[ButtonItem]
    image: bool


class Empty(Envelope, kw_only=True):
    """Nothing beyond the envelope."""


class SentAnswer(Envelope, kw_only=True):
    """A kept send."""

    item: SentItem | UnsetType = UNSET


class SenderAnswer(Envelope, kw_only=True):
    """A profile."""

    item: SenderItem | UnsetType = UNSET


class TemplateAnswer(Envelope, kw_only=True):
    """A template."""

    item: TemplateItem | UnsetType = UNSET


class CancelAnswer(Envelope, kw_only=True):
    """A cancellation."""

    item: CancelItem | UnsetType = UNSET


class CategoriesAnswer(ListEnvelope, kw_only=True):
    """Categories of profiles."""

    items: list[CategoryItem]


class TemplateCategoriesAnswer(ListEnvelope, kw_only=True):
    """Categories of templates."""

    items: list[TemplateCategoryItem]


class SendersAnswer(PagedEnvelope, kw_only=True):
    """Profiles."""

    items: list[SenderItem]


class TemplatesAnswer(PagedEnvelope, kw_only=True):
    """Templates."""

    items: list[TemplateItem]


class MessagesAnswer(PagedEnvelope, kw_only=True):
    """Messages."""

    items: list[MessageItem]


class RequestAnswer(PagedEnvelope, kw_only=True):
    """One send and its messages."""

    item: RequestItem
    items: list[MessageItem]


class PhoneAnswer(PagedEnvelope, kw_only=True):
    """What a simulated phone received."""

    items: list[PhoneItem]


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
        cellphone=phone.hyphenated(profile.cellphone),
        authStatus=labelled(profile.status.word, profile.status.label, speech),
    )


def sender_item(profile: Profile, category: Category | None, speech: Speech) -> SenderItem:
    """Return the record of a profile as lists show it."""
    item = new_sender_item(profile, category, speech)
    item.id = str(profile.id)
    item.label = profile.channel_id
    item.enable = profile.is_enabled
    item.created = speech.stamp(profile.created_at)
    item.changed = speech.stamp(profile.changed_at)
    return item


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
        yyyyMM=when.month_of(request.scheduled_at, speech.zone),
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
        enable=template.is_enabled,
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
