"""The answers of the endpoints that send and cancel messages."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from pabal.models.answers import Envelope, WarningItem


class DryRunReceiverItem(Struct, kw_only=True):
    """What a receiver would get."""

    phoneNumber: Annotated[str, Meta(description="Its number.", examples=["010-1234-5678"])]
    product: Annotated[str, Meta(description="A messageProductType.", examples=["sms"])]
    content: Annotated[str, Meta(description="The text with its variables filled in.")]
    size: Annotated[int, Meta(description="Bytes of a text message, characters of others.")]
    carrier: Annotated[str, Meta(description="The carrier that would get it first.")]
    scheduledDate: Annotated[str, Meta(description="When it would be sent, after the night rule.")]
    cost: Annotated[float | UnsetType, Meta(description="In won, if it is delivered; absent without a price.")] = (
        UNSET
    )
    warnings: Annotated[list[WarningItem], Meta(description="What looks like a mistake about this receiver.")] = []


class AcceptedItem(Struct):
    """An accepted send request; of a dry run, what would happen."""

    requestId: Annotated[str | UnsetType, Meta(description="Absent for a dry run.")] = UNSET
    wouldAccept: Annotated[bool | UnsetType, Meta(description="Dry run only: true.")] = UNSET
    receivers: Annotated[
        list[DryRunReceiverItem] | UnsetType, Meta(description="Dry run only: the first 1,000 receivers.")
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
