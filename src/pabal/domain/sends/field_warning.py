"""Warnings: what a caller should know about a request that succeeds all the same."""

from enum import Enum
from typing import NamedTuple

from pabal.domain.base.codes import Text

MAX_WARNINGS = 100
"""Warnings in one answer."""


class WarningCode(Enum):
    """The values of a warning's `code`, and the message of each."""

    UNKNOWN_FIELD = Text("알 수 없는 항목이라 무시했습니다.", "This field is unknown and was ignored.")
    DUPLICATE_RECEIVER = Text(
        "같은 번호가 앞에 있습니다. 두 번 보냅니다.",
        "The number is in this request before; it gets the message again.",
    )
    OPTED_OUT = Text(
        "광고 수신을 거부한 번호라 보내지 않습니다.",
        "The number has opted out of advertising; nothing is sent to it.",
    )
    POSTPONED_TO_MORNING = Text(
        "광고는 밤에 보낼 수 없어 아침으로 미뤘습니다.",
        "Advertisements are not sent at night; it was postponed to the morning.",
    )
    LOOKS_LIKE_ADVERTISING = Text(
        "광고 표시로 시작해 광고로 다룹니다. 광고라면 adFlag를 true로 보내세요.",
        "It begins like an advertisement and is treated as one; set adFlag if it is.",
    )
    DUPLICATE_TEXT = Text(
        "같은 내용을 이 번호로 얼마 전에 보냈습니다. 보내지 않습니다.",
        "The same text was sent to this number recently; it is not sent again.",
    )
    UNSUITABLE_IMAGE = Text(
        "발송 경로가 받지 않을 이미지입니다. 메시지가 실패할 수 있습니다.",
        "The carrier is not expected to take this image; the message may fail.",
    )
    PARTIAL_RESULT = Text(
        "저장소 일부에 연결할 수 없어 거기 있는 메시지는 빠졌습니다.",
        "A part of the store cannot be reached; messages that are there are missing.",
    )

    @property
    def text(self) -> Text:
        """The message."""
        return self.value


class FieldWarning(NamedTuple):
    """One warning: the code, the field, and details if any."""

    code: WarningCode
    field: str
    detail: Text | None = None
    near: str = ""
    """The known field that an unknown one resembles."""

    def message(self, language: str) -> str:
        """Return the message for the caller."""
        sentence = self.code.text.in_language(language)
        return f"{sentence} {self.detail.in_language(language)}" if self.detail else sentence
