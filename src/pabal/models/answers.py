"""The answers of the API and the records in them."""

from typing import Annotated

from msgspec import UNSET, Struct, UnsetType

from pabal.models import describe

DATE = describe("yyyy-MM-dd HH:mm:ss", "yyyy-MM-dd HH:mm:ss", examples=["2026-11-15 10:12:03"])
Date = Annotated[str, DATE]


class LabelledValue(Struct):
    """A coded value and its label in the language of the answer."""

    value: str
    label: str


class ErrorItem(Struct):
    """One problem with a request."""

    field: str
    code: str
    message: str


class WarningItem(Struct):
    """What to know about a request that succeeded all the same."""

    field: Annotated[
        str,
        describe(
            "있는 곳. `errors`와 같은 방식입니다",
            "Where it is, as in `errors`.",
            examples=["receivers[0].phoneNumber"],
        ),
    ]
    code: Annotated[
        str,
        describe(
            "UNKNOWN_FIELD, DUPLICATE_RECEIVER, OPTED_OUT, POSTPONED_TO_MORNING, LOOKS_LIKE_ADVERTISING,"
            " DUPLICATE_TEXT, UNSUITABLE_IMAGE 또는 PARTIAL_RESULT",
            "UNKNOWN_FIELD, DUPLICATE_RECEIVER, OPTED_OUT, POSTPONED_TO_MORNING, LOOKS_LIKE_ADVERTISING,"
            " DUPLICATE_TEXT, UNSUITABLE_IMAGE or PARTIAL_RESULT.",
        ),
    ]
    message: Annotated[str, describe("응답의 언어로 된 뜻", "What it means, in the language of the answer.")]


class Envelope(Struct, kw_only=True, dict=True):
    """The fields of every answer."""

    time: Annotated[
        str,
        describe(
            "ISO 8601, 밀리초와 시간대 오프셋 포함",
            "ISO 8601 with milliseconds and offset.",
            examples=["2026-11-15T10:12:03.123+09:00"],
        ),
    ]
    result: Annotated[
        str, describe("SUCCESS 또는 오류의 코드", "SUCCESS, or the code of the error.", examples=["SUCCESS"])
    ]
    resultMessage: str
    locale: Annotated[str, describe("ko 또는 en", "ko or en.", examples=["ko"])]
    errors: Annotated[
        list[ErrorItem] | UnsetType,
        describe(
            "거절된 경우: 같은 검사에서 찾은 모든 문제", "If refused: every problem that the same check found."
        ),
    ] = UNSET
    warnings: Annotated[
        list[WarningItem] | UnsetType,
        describe(
            "실수로 보이는 것, 최대 100개. 없으면 생략합니다",
            "What looks like a mistake, at most 100; absent if nothing.",
        ),
    ] = UNSET

    @property
    def x_request_id(self) -> str:
        """The header `X-Request-Id` of an answer that a client got: the id of the call in the log."""
        found: str = vars(self).get("x_request_id", "")
        return found


class ListEnvelope(Envelope, kw_only=True):
    """The fields of every list."""

    totalCount: int
    resultCount: int


class PagedEnvelope(ListEnvelope, kw_only=True):
    """The fields of every paged list."""

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
    """The category of a profile."""

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
    authStatus: LabelledValue
    enable: bool | UnsetType = UNSET
    disabledReason: LabelledValue | UnsetType = UNSET
    created: Date | UnsetType = UNSET
    changed: Date | UnsetType = UNSET


class MessageItem(Struct, kw_only=True):
    """A message and its result."""

    id: str
    label: str
    messageId: str
    requestId: str
    messageProductType: LabelledValue
    sendingStatus: LabelledValue
    resultCode: LabelledValue | UnsetType = UNSET
    receiver: str
    reference: str | UnsetType = UNSET
    originMessageId: str | UnsetType = UNSET
    channelId: str | UnsetType = UNSET
    senderKey: str | UnsetType = UNSET
    templateCode: str | UnsetType = UNSET
    templateData: Annotated[
        dict[str, str] | UnsetType,
        describe(
            "본문을 여기서 알 수 없는, 중계사 템플릿 브랜드 메시지의 변수 값",
            "Values of a brand message by a template of the relay, whose text is not known here.",
        ),
    ] = UNSET
    deliveredAs: Annotated[
        LabelledValue | UnsetType,
        describe(
            "자기 종류와 다르게 전달되면, 무엇으로 전달되는지",
            "What it is delivered as, if not as its own product.",
        ),
    ] = UNSET
    purpose: Annotated[
        str | UnsetType,
        describe("일회용 인증번호이면 `code`", "`code` if it is a one-time code."),
    ] = UNSET
    yyyyMM: str
    requestDate: Date
    scheduledDate: Date
    completedDate: Date | UnsetType = UNSET
    subject: str | UnsetType = UNSET
    content: str
    unreadable: bool | UnsetType = UNSET


class StatusCounts(Struct):
    """Number of messages by status."""

    waiting: int
    sending: int
    completed: int
    fail: int
    cancel: int


class RequestItem(Struct):
    """A send request and its progress."""

    requestId: str
    messageProductType: LabelledValue
    requestDate: Date
    scheduledDate: Date
    totalCount: int
    counts: StatusCounts
    unreadable: bool | UnsetType = UNSET


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
    telNumber: str | UnsetType = UNSET


class ItemLineItem(Struct):
    """A line of an item list, or its summary."""

    title: str
    description: str


class ItemListItem(Struct, kw_only=True):
    """An item list."""

    items: list[ItemLineItem]
    summary: ItemLineItem | UnsetType = UNSET


class ItemHighlightItem(Struct, kw_only=True):
    """What is emphasized above an item list."""

    title: str
    description: str
    imageUrl: str | UnsetType = UNSET


class RepresentLinkItem(Struct, kw_only=True):
    """The link that a tap on a message opens."""

    mobileUrl: str | UnsetType = UNSET
    pcUrl: str | UnsetType = UNSET
    androidUrl: str | UnsetType = UNSET
    iosUrl: str | UnsetType = UNSET


class PartsItem(Struct, kw_only=True):
    """What an Alimtalk may have beside its text."""

    header: str | UnsetType = UNSET
    itemHighlight: ItemHighlightItem | UnsetType = UNSET
    itemList: ItemListItem | UnsetType = UNSET
    representLink: RepresentLinkItem | UnsetType = UNSET
    quickReplies: list[ButtonItem] | UnsetType = UNSET


class ImageItem(Struct):
    """An image, without its content."""

    fileName: str


class TemplateItem(PartsItem, kw_only=True):
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
    status: LabelledValue
    comment: str | UnsetType = UNSET
    enable: bool
    disabledReason: LabelledValue | UnsetType = UNSET
    created: Date
    changed: Date


class EnvelopeOnly(Envelope, kw_only=True):
    """The envelope without further fields."""


class SenderAnswer(Envelope, kw_only=True):
    """A profile."""

    item: SenderItem


class TemplateAnswer(Envelope, kw_only=True):
    """A template."""

    item: TemplateItem


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

    totalCountIsCapped: Annotated[
        bool | UnsetType,
        describe(
            "true: `totalCount`인 10,000보다 많습니다", "True: there are more than `totalCount`, which is 10,000."
        ),
    ] = UNSET
    nextCursor: Annotated[
        str | UnsetType,
        describe(
            "다음 페이지의 `cursor`. 마지막 페이지와 `receivers`를 준 경우에는 없습니다",
            "`cursor` of the next page; absent on the last, and where `receivers` was given.",
        ),
    ] = UNSET
    items: list[MessageItem]


class RequestAnswer(PagedEnvelope, kw_only=True):
    """A send request and its messages."""

    item: RequestItem
    items: list[MessageItem]
