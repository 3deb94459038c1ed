"""Why a relay has put a sender profile or a template out of use."""

from enum import Enum

from pabal.domain.codes import Text


class Suspension(Enum):
    """What stands in the way at the relay; when that is gone, so is the bar."""

    GONE = ("gone", Text("중계사에 더 이상 없습니다.", "The relay does not have it any more."))
    BLOCKED = ("blocked", Text("중계사나 카카오가 차단했습니다.", "The relay or Kakao has blocked it."))
    DORMANT = ("dormant", Text("중계사에서 휴면 상태입니다.", "It is dormant at the relay."))
    INACTIVE = ("inactive", Text("카카오톡 채널이 비활성화되었습니다.", "The KakaoTalk channel is not active."))
    DELETED = ("deleted", Text("카카오톡 채널이 삭제되었습니다.", "The KakaoTalk channel was deleted."))
    ITEM_LIST = (
        "itemList",
        Text("아이템 리스트나 헤더가 있는 템플릿은 보낼 수 없습니다.", "Its item list or header cannot be sent."),
    )
    QUICK_REPLIES = (
        "quickReplies",
        Text("바로연결이 있는 템플릿은 보낼 수 없습니다.", "Its quick replies cannot be sent."),
    )
    REPRESENT_LINK = (
        "representLink",
        Text("대표 링크가 있는 템플릿은 보낼 수 없습니다.", "Its representative link cannot be sent."),
    )
    OTHER_BUTTON = (
        "otherButton",
        Text("지원하지 않는 종류의 버튼이 있습니다.", "It has a button of a kind that cannot be sent."),
    )
    UNREADABLE = (
        "unreadable",
        Text("지원하지 않는 종류의 템플릿입니다.", "It is of a kind that is not known here."),
    )

    def __init__(self, word: str, label: Text) -> None:
        self.word = word
        self.label = label


_BY_WORD = {bar.word: bar for bar in Suspension}


def parse_suspension(word: str | None) -> Suspension | None:
    """Return the bar of this word; one that a later version may have kept bars too."""
    return None if word is None else _BY_WORD.get(word, Suspension.UNREADABLE)
