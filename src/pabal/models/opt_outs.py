"""Bodies and answers of the endpoints of opt-outs and of what is stored about one phone number."""

from typing import Annotated

from msgspec import UNSET, Struct, UnsetType

from pabal.models import describe
from pabal.models.answers import Date, Envelope, LabelledValue, MessageItem, PagedEnvelope
from pabal.models.bodies import PHONE
from pabal.models.lookup import InboundItem

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


class StoredMessageItem(Struct, kw_only=True, rename={"sender": "from"}):
    """A message or a token that a simulated phone has stored."""

    time: Date
    kind: str
    sender: str
    subject: str | UnsetType = UNSET
    content: str


class CampaignRowItem(Struct, kw_only=True):
    """A row of a campaign's file that is in no request."""

    campaignId: str
    cells: list[str]


class ContactItem(Struct, kw_only=True):
    """A contact in the address book of the console."""

    name: Annotated[str, describe("이름. 비어 있을 수 있습니다", "Name of the person; may be empty.")]
    fields: Annotated[dict[str, str], describe("항목 이름별 값", "Values by the name of their field.")]
    created: Date
    changed: Date


class PersonalDataItem(Struct, kw_only=True):
    """What is stored about a number beside its messages."""

    phoneNumber: str
    simulatedPhone: list[StoredMessageItem]
    senderProfiles: list[str]
    users: list[str]
    campaignRows: list[CampaignRowItem]
    optOuts: Annotated[
        list[OptOutItem],
        describe(
            "이 번호의 수신거부. 파기한 뒤에도 키를 넣은 해시로 남습니다",
            "Its opt-outs; they stay after an erasure, as keyed hashes.",
        ),
    ]
    contacts: Annotated[list[ContactItem], describe("주소록의 연락처", "Its contact in the address book.")]
    drafts: Annotated[
        list[str],
        describe("콘솔의 임시 저장에서 이 번호가 있는 줄", "Lines of drafts in the console that name this number."),
    ]
    inbound: Annotated[
        list[InboundItem], describe("이 번호가 계정으로 보낸 것", "What this number has sent to the account.")
    ]


class ErasureItem(Struct):
    """How much an erasure has erased."""

    erasedCount: int
    canceledCount: int
    pendingCount: int
    campaignRowCount: int


class PersonalDataAnswer(PagedEnvelope, kw_only=True):
    """What is stored about a number, and the messages to it."""

    item: PersonalDataItem
    items: list[MessageItem]


class ErasureAnswer(Envelope, kw_only=True):
    """An erasure."""

    item: ErasureItem
