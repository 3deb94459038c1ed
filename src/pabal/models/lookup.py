"""Parameters and answers of looking up messages, results and replies."""

from typing import Annotated

from msgspec import UNSET, Struct, UnsetType

from pabal.models import describe
from pabal.models.answers import ButtonItem, Date, Envelope, LabelledValue, MessageItem, PagedEnvelope, PartsItem
from pabal.models.brand_bodies import AttachmentBody

WON = describe("원, 소수점 둘째 자리까지", "In won, with two decimals.", examples=[9.0])


class GetMessage(Struct, kw_only=True, omit_defaults=True):
    """The message to look up."""

    messageId: str


class MessageEventItem(Struct, kw_only=True):
    """One thing that happened to a message."""

    event: Annotated[
        str,
        describe(
            "`accepted`, `scheduled`, 발송 경로로 `submitted`, 그 `verdict`, 그 `receipt`, `fallback` 또는 `ended`",
            "`accepted`, `scheduled`, `submitted` to a carrier, its `verdict`, its `receipt`, `fallback` or"
            " `ended`.",
            examples=["submitted"],
        ),
    ]
    date: Date | UnsetType = UNSET
    carrier: str | UnsetType = UNSET
    attempt: Annotated[
        int | UnsetType, describe("접수되지 않은 시도의 번호", "The number of the attempt that was not accepted.")
    ] = UNSET
    verdict: Annotated[
        str | UnsetType,
        describe(
            "`accepted`, `rejected`, `declined`, `busy`, `unknown`, `notSent` 또는 `unmapped`",
            "`accepted`, `rejected`, `declined`, `busy`, `unknown`, `notSent` or `unmapped`.",
        ),
    ] = UNSET
    carrierCode: Annotated[str | UnsetType, describe("발송 경로의 코드", "The carrier's own code.")] = UNSET
    sendingStatus: Annotated[LabelledValue | UnsetType, describe("어떻게 끝났는지", "How it ended.")] = UNSET
    resultCode: LabelledValue | UnsetType = UNSET
    messageId: Annotated[
        str | UnsetType,
        describe(
            "대체 발송, 또는 이 메시지가 대신한 실패한 메시지",
            "The fallback, or the failed message that this one is the fallback of.",
        ),
    ] = UNSET


class MessageDetailItem(MessageItem, kw_only=True):
    """A message, and what happened to it."""

    carrier: Annotated[
        str | UnsetType,
        describe("결과를 냈거나 지금 처리 중인 발송 경로", "The carrier that decided how it ended, or has it now."),
    ] = UNSET
    carrierCode: Annotated[
        str | UnsetType, describe("그 발송 경로의 결과 코드", "That carrier's own code of the result.")
    ] = UNSET
    submittedDate: Date | UnsetType = UNSET
    cost: Annotated[float | UnsetType, WON] = UNSET
    key: Annotated[
        LabelledValue | UnsetType,
        describe("요청에 쓴 API 키의 ID와 이름", "Id and name of the API key that it was requested with."),
    ] = UNSET
    events: list[MessageEventItem]


class MessageDetailAnswer(Envelope, kw_only=True):
    """One message and its timeline."""

    item: MessageDetailItem


MAX_RESULTS = 1000


class ListResults(Struct, kw_only=True, omit_defaults=True):
    """From where on to list results."""

    cursor: Annotated[
        str | None,
        describe(
            "지난 응답의 `nextCursor`. 없으면 가장 오래된 결과부터",
            "The `nextCursor` of the last answer; absent: from the oldest result on.",
        ),
    ] = None
    limit: Annotated[
        int,
        describe(f"최대 결과 수, 1부터 {MAX_RESULTS:,}까지", f"Most results to list, from 1 to {MAX_RESULTS:,}."),
    ] = MAX_RESULTS


class ResultItem(MessageItem, kw_only=True):
    """A message that has ended, and the id of that event."""

    eventId: Annotated[
        str, describe("영구히 고유하며 웹훅에서도 같습니다", "Unique for good, and the same in webhooks.")
    ]


class ResultsItem(Struct, kw_only=True):
    """Where to go on."""

    nextCursor: Annotated[
        str,
        describe(
            "다음 호출의 `cursor`. 아직 새것이 없을 때도 있습니다",
            "`cursor` of the next call, also where there is nothing new yet.",
        ),
    ]


class ResultsAnswer(Envelope, kw_only=True):
    """Messages that have ended."""

    item: ResultsItem
    resultCount: int
    items: list[ResultItem]


MAX_INBOUND = 1000
"""Most messages in one answer."""


class ListInbound(Struct, kw_only=True, omit_defaults=True):
    """From where on to list inbound messages."""

    cursor: Annotated[
        str | None,
        describe(
            "앞선 응답의 `nextCursor`. 기본값: 저장된 가장 오래된 것부터",
            "`nextCursor` of the answer before. Default: from the oldest that is stored.",
        ),
    ] = None
    limit: Annotated[
        int, describe(f"최대 개수, 1부터 {MAX_INBOUND:,}까지", f"How many at most, from 1 to {MAX_INBOUND:,}.")
    ] = MAX_INBOUND


class InboundItem(Struct, kw_only=True):
    """A message that a subscriber has sent to a number of the account."""

    id: str
    label: str
    sender: str
    receiver: str
    content: str
    optOut: bool
    receivedDate: Date


class InboundPosition(Struct):
    """Where the next call continues."""

    nextCursor: str


class InboundAnswer(Envelope, kw_only=True):
    """Inbound messages."""

    item: InboundPosition
    resultCount: int
    items: list[InboundItem]


class PhoneItem(PartsItem, kw_only=True, rename={"sender": "from"}):
    """A message on a simulated phone."""

    time: Date
    kind: Annotated[str, describe("messageProductType의 값 또는 `token`", "A messageProductType, or `token`.")]
    sender: str
    subject: str | UnsetType = UNSET
    content: str
    buttons: list[ButtonItem]
    image: bool
    images: int = 0
    messageType: Annotated[str | UnsetType, describe("브랜드 메시지의 것", "Of a brand message.")] = UNSET
    targeting: Annotated[str | UnsetType, describe("브랜드 메시지의 것", "Of a brand message.")] = UNSET
    attachment: Annotated[AttachmentBody | UnsetType, describe("브랜드 메시지의 것", "Of a brand message.")] = UNSET


class PhoneAnswer(PagedEnvelope, kw_only=True):
    """A message on a simulated phone."""

    items: list[PhoneItem]
