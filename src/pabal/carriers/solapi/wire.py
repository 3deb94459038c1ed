"""The shapes of Solapi's answers, as far as they are read."""

from typing import Any

import msgspec

OWN_ID = "pabal"
"""The custom field that holds our message id; Solapi repeats it in answers, lists and webhooks."""


class ListedMessage(msgspec.Struct):
    """A message in an answer, a list or a webhook."""

    messageId: str
    statusCode: str | None = None
    groupId: str | None = None
    customFields: dict[str, Any] | None = None

    @property
    def own_id(self) -> str | None:
        """Our message id in hex; None if it is not one of ours."""
        found = (self.customFields or {}).get(OWN_ID)
        return found if isinstance(found, str) else None


class SendAnswer(msgspec.Struct):
    """The answer to a call that submits messages."""

    failedMessageList: list[ListedMessage]
    messageList: list[ListedMessage] | None = None


class ListedPage(msgspec.Struct):
    """A page of a list of messages."""

    messageList: dict[str, ListedMessage]
    nextKey: str | None = None


class UploadAnswer(msgspec.Struct):
    """The answer to an upload."""

    fileId: str
