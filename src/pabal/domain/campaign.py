"""A campaign: a file of receivers that becomes many requests, and where it stands."""

from enum import Enum

from pabal.domain.codes import Text

MAX_NAME_CHARACTERS = 80
MAX_BLOCK_RECEIVERS = 1000
"""A request of a campaign has at most so many, and fewer where the operator allows fewer."""


class CampaignState(Enum):
    """Where a campaign stands; `word` is how the store keeps it."""

    DRAFT = ("draft", Text("파일을 기다림", "Waits for a file"))
    READING = ("reading", Text("파일 확인 중", "File is being checked"))
    CHECKED = ("checked", Text("보내기 전", "Not sent yet"))
    MAKING = ("making", Text("접수 중", "Being accepted"))
    MADE = ("made", Text("접수됨", "Accepted"))
    HALTED = ("halted", Text("멈춤", "Halted"))
    CANCELLING = ("cancelling", Text("취소 중", "Being cancelled"))
    CANCELLED = ("cancelled", Text("취소됨", "Cancelled"))

    def __init__(self, word: str, label: Text) -> None:
        self.word = word
        self.label = label

    @property
    def is_before_sending(self) -> bool:
        """Whether nobody has asked for it to be sent yet."""
        return self in (CampaignState.DRAFT, CampaignState.READING, CampaignState.CHECKED)


CAMPAIGN_STATE_BY_WORD = {state.word: state for state in CampaignState}
