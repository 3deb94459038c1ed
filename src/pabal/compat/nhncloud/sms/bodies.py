"""The bodies of the SMS calls, as they are documented; other fields are ignored."""

from typing import Any

import msgspec


class SmsRecipient(msgspec.Struct, gc=False):
    """One recipient of a text."""

    recipientNo: str | None = None
    countryCode: str | int | None = None
    internationalRecipientNo: str | None = None
    templateParameter: dict[str, Any] | None = None
    recipientGroupingKey: str | None = None

    @property
    def number(self) -> str:
        """The number as it is shown in answers."""
        return self.recipientNo or self.internationalRecipientNo or ""


class SendBody(msgspec.Struct):
    """A text to up to 1,000 recipients."""

    body: str | None = None
    title: str | None = None
    sendNo: str | None = None
    recipientList: list[SmsRecipient] | None = None
    attachFileIdList: list[int] | None = None
    templateId: str | None = None
    requestDate: str | None = None
    senderGroupingKey: str | None = None
    userId: str | None = None
    statsId: str | None = None
    originCode: str | None = None
    useConversion: bool | None = None


class UploadBody(msgspec.Struct):
    """A picture: in Base64, or its bytes as signed or unsigned numbers."""

    fileName: str | None = None
    fileBody: str | list[int] | None = None
    createUser: str | None = None


class Reservation(msgspec.Struct, gc=False):
    """A scheduled message."""

    requestId: str
    recipientSeq: int


class CancelBody(msgspec.Struct):
    """The messages to cancel."""

    reservationList: list[Reservation] | None = None
