"""A campaign: a file of receivers that becomes many requests, and where it stands."""

from enum import Enum

from pabal.domain.codes import Words

MOST_NAME_CHARACTERS = 80
BLOCK_RECEIVERS = 1000
"""A request of a campaign has at most so many, and fewer where the operator allows fewer."""


class State(Enum):
    """Where a campaign stands; `word` is how the store keeps it."""

    DRAFT = ("draft", Words("파일을 기다림", "Waits for a file"))
    READING = ("reading", Words("파일 확인 중", "File is being checked"))
    CHECKED = ("checked", Words("보내기 전", "Not sent yet"))
    MAKING = ("making", Words("접수 중", "Being accepted"))
    MADE = ("made", Words("접수됨", "Accepted"))
    HALTED = ("halted", Words("멈춤", "Halted"))
    CANCELLING = ("cancelling", Words("취소 중", "Being cancelled"))
    CANCELLED = ("cancelled", Words("취소됨", "Cancelled"))

    def __init__(self, word: str, label: Words) -> None:
        self.word = word
        self.label = label

    @property
    def is_before_sending(self) -> bool:
        """Whether nobody has asked for it to be sent yet."""
        return self in (State.DRAFT, State.READING, State.CHECKED)


STATE_BY_WORD = {state.word: state for state in State}
