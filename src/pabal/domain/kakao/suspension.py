"""Why a sender profile or a template cannot be used at its relay."""

from enum import Enum

from pabal.domain.base.codes import Text


class Suspension(Enum):
    """The reason; it is lifted when the relay no longer reports it."""

    GONE = ("gone", Text("중계사에 더 이상 없습니다.", "The relay no longer has it."))
    BLOCKED = ("blocked", Text("중계사나 카카오가 차단했습니다.", "The relay or Kakao has blocked it."))
    DORMANT = ("dormant", Text("중계사에서 휴면 상태입니다.", "It is dormant at the relay."))
    INACTIVE = ("inactive", Text("카카오톡 채널이 비활성화되었습니다.", "The KakaoTalk channel is not active."))
    DELETED = ("deleted", Text("카카오톡 채널이 삭제되었습니다.", "The KakaoTalk channel was deleted."))
    OTHER_BUTTON = (
        "otherButton",
        Text("지원하지 않는 종류의 버튼이 있습니다.", "It has a button of an unsupported type."),
    )
    UNREADABLE = (
        "unreadable",
        Text("지원하지 않는 종류의 템플릿입니다.", "This kind of template is not supported."),
    )

    def __init__(self, code: str, label: Text) -> None:
        self.code = code
        self.label = label


_BY_CODE = {bar.code: bar for bar in Suspension}


def parse_suspension(word: str | None) -> Suspension | None:
    """Return the suspension of a stored word; an unknown word of a later version suspends too."""
    return None if word is None else _BY_CODE.get(word, Suspension.UNREADABLE)
