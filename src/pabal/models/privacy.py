"""Answers of the endpoints that export and erase what is stored about one phone number."""

from typing import Annotated

from msgspec import UNSET, Struct, UnsetType

from pabal.models.answers import Date, Envelope, MessageItem, PagedEnvelope
from pabal.models.description import describe
from pabal.models.lookup import InboundItem
from pabal.models.opt_outs import OptOutItem


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
