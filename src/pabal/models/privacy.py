"""Answers of the endpoints that export and erase what is stored about one phone number."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from pabal.models.answers import Date, Envelope, MessageItem, PagedEnvelope
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

    name: Annotated[str, Meta(description="Name of the person; may be empty.")]
    fields: Annotated[dict[str, str], Meta(description="Values by the name of their field.")]
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
        list[OptOutItem], Meta(description="Its opt-outs; they stay after an erasure, as keyed hashes.")
    ]
    contacts: Annotated[list[ContactItem], Meta(description="Its contact in the address book.")]
    drafts: Annotated[list[str], Meta(description="Lines of drafts in the console that name this number.")]
    inbound: Annotated[list[InboundItem], Meta(description="What this number has sent to the account.")]


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
