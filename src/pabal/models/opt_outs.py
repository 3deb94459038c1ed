"""Bodies and answers of the endpoints of opt-outs."""

from typing import Annotated

from msgspec import UNSET, Struct, UnsetType

from pabal.models.answers import Date, Envelope, LabelledValue, PagedEnvelope
from pabal.models.bodies import PHONE
from pabal.models.description import describe

_SENDER = describe(
    "발신번호. 있으면 그 번호로 보내는 문자만, 없으면 계정이 보내는 모든 것을 뜻합니다",
    "Sender number. With it, only texts from that number are meant; without it, everything that the account sends.",
    examples=["02-1234-5678"],
)
_PHONES = describe(
    "`phoneNumber` 대신 여러 전화번호, 최대 1,000개",
    "Several phone numbers, at most 1,000, instead of `phoneNumber`.",
)


class AddOptOuts(Struct, kw_only=True, omit_defaults=True):
    """Who wants no advertising."""

    phoneNumber: Annotated[str | None, PHONE] = None
    phoneNumbers: Annotated[list[str] | None, _PHONES] = None
    senderNumber: Annotated[str | None, _SENDER] = None
    reason: Annotated[str | None, describe("자체 메모, 최대 200자", "Your own note, at most 200 characters.")] = (
        None
    )


class RemoveOptOuts(Struct, kw_only=True, omit_defaults=True):
    """Who accepts advertising again."""

    phoneNumber: Annotated[str | None, PHONE] = None
    phoneNumbers: Annotated[list[str] | None, _PHONES] = None
    senderNumber: Annotated[str | None, _SENDER] = None


class ListOptOuts(Struct, kw_only=True, omit_defaults=True):
    """The opt-outs to list."""

    page: int = 1
    pageSize: int = 10
    phoneNumber: Annotated[str | None, PHONE] = None
    senderNumber: Annotated[
        str | None, describe("이 발신번호의 수신거부만", "Only opt-outs of this sender number.")
    ] = None


class OptOutItem(Struct, kw_only=True):
    """A receiver who wants no advertising."""

    id: str
    label: str
    phoneNumber: str
    senderNumber: Annotated[
        str | UnsetType,
        describe(
            "이 번호로 보내는 문자에만 적용되면 그 번호. 없으면 모든 것에 적용됩니다",
            "If it holds for texts from this number only; absent: for everything.",
        ),
    ] = UNSET
    reason: str | UnsetType = UNSET
    source: LabelledValue
    created: Date


class AddedOptOutsItem(Struct):
    """Number of opt-outs in the request, and number of those that were not there."""

    requestedCount: int
    addedCount: int


class RemovedOptOutsItem(Struct):
    """Number of opt-outs in the request, and number of those that were there."""

    requestedCount: int
    removedCount: int


class AddedOptOutsAnswer(Envelope, kw_only=True):
    """Added opt-outs."""

    item: AddedOptOutsItem


class RemovedOptOutsAnswer(Envelope, kw_only=True):
    """Removed opt-outs."""

    item: RemovedOptOutsItem


class OptOutsAnswer(PagedEnvelope, kw_only=True):
    """Opt-outs."""

    items: list[OptOutItem]
