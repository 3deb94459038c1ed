"""The answers of the endpoints that send and cancel messages."""

from typing import Annotated

from msgspec import UNSET, Struct, UnsetType

from pabal.models import describe
from pabal.models.answers import Envelope, WarningItem


class DryRunReceiverItem(Struct, kw_only=True):
    """What a receiver would get."""

    phoneNumber: Annotated[str, describe("수신자의 번호", "Its number.", examples=["010-1234-5678"])]
    product: Annotated[str, describe("messageProductType의 값", "A messageProductType.", examples=["sms"])]
    content: Annotated[str, describe("변수를 채운 본문", "The text with its variables filled in.")]
    size: Annotated[
        int, describe("문자는 바이트, 그 밖에는 글자 수", "Bytes of a text message, characters of others.")
    ]
    carrier: Annotated[str, describe("먼저 이용할 발송 경로", "The carrier that would get it first.")]
    scheduledDate: Annotated[
        str, describe("야간 제한을 적용한 뒤의 발송 시각", "When it would be sent, after the night rule.")
    ]
    cost: Annotated[
        float | UnsetType,
        describe(
            "전달되면 드는 비용(원). 단가가 없으면 생략합니다",
            "In won, if it is delivered; absent without a price.",
        ),
    ] = UNSET
    warnings: Annotated[
        list[WarningItem],
        describe("이 수신자에 대해 실수로 보이는 것", "What looks like a mistake about this receiver."),
    ] = []


class AcceptedItem(Struct):
    """An accepted send request; of a dry run, what would happen."""

    requestId: Annotated[str | UnsetType, describe("모의 발송이면 없습니다", "Absent for a dry run.")] = UNSET
    wouldAccept: Annotated[bool | UnsetType, describe("모의 발송만: true", "Dry run only: true.")] = UNSET
    receivers: Annotated[
        list[DryRunReceiverItem] | UnsetType,
        describe("모의 발송만: 처음 1,000명의 수신자", "Dry run only: the first 1,000 receivers."),
    ] = UNSET


class AcceptedAnswer(Envelope, kw_only=True):
    """An accepted send request."""

    item: AcceptedItem

    @property
    def request_id(self) -> str:
        """The id of the request; empty for a dry run."""
        return "" if self.item.requestId is UNSET else self.item.requestId


class CancelItem(Struct):
    """Number of messages to cancel, and number of messages cancelled."""

    requestedCount: int
    canceledCount: int


class CancelAnswer(Envelope, kw_only=True):
    """A cancellation."""

    item: CancelItem
