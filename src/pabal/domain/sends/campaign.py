"""A campaign: a file of receivers that becomes many requests."""

import re
from collections.abc import Sequence

from pabal.domain.base.codes import LabelledEnum, Text

MAX_NAME_CHARACTERS = 80
MAX_BLOCK_RECEIVERS = 1000
"""Receivers in one request of a campaign; fewer where the operator's limit is lower."""


OPTED_OUT_ROW = Text("광고를 수신거부한 번호입니다.", "The number has opted out of advertising.")
_DUPLICATE = re.compile(r"[0-9]+행과 같은 번호입니다\.", re.ASCII)


def describe_duplicate(first_row: int) -> Text:
    """Return why a row is left out whose number another row has."""
    return Text(f"{first_row}행과 같은 번호입니다.", f"The same number is in row {first_row}.")


def is_duplicate(reason: Sequence[str]) -> bool:
    """Return whether a row was left out because another one has its number."""
    return any(_DUPLICATE.fullmatch(each) for each in reason)


def is_correctable(reason: Sequence[str]) -> bool:
    """Return whether a row that was left out can be corrected and sent; the others got it, or want none."""
    return not is_duplicate(reason) and OPTED_OUT_ROW.ko not in reason


class CampaignState(LabelledEnum):
    """The state of a campaign; `word` is the stored value."""

    DRAFT = ("draft", Text("파일 대기", "Waiting for a file"))
    READING = ("reading", Text("파일 확인 중", "Checking the file"))
    CHECKED = ("checked", Text("보내기 전", "Not sent yet"))
    TO_APPROVE = ("to_approve", Text("승인 대기", "To be approved"))
    MAKING = ("making", Text("접수 중", "Accepting"))
    MADE = ("made", Text("접수됨", "Accepted"))
    HALTED = ("halted", Text("멈춤", "Halted"))
    CANCELLING = ("cancelling", Text("취소 중", "Cancelling"))
    CANCELLED = ("cancelled", Text("취소됨", "Cancelled"))
    DISCARDED = ("discarded", Text("삭제됨", "Discarded"))
    """It was discarded before it was sent."""

    @property
    def is_before_sending(self) -> bool:
        """Whether it has not been started yet."""
        return self in (
            CampaignState.DRAFT, CampaignState.READING, CampaignState.CHECKED, CampaignState.TO_APPROVE
        )  # fmt: skip

    @property
    def is_sent(self) -> bool:
        """Whether it was started, whatever became of it."""
        return not self.is_before_sending and self is not CampaignState.DISCARDED


UNSENT_STATES = tuple(state for state in CampaignState if state.is_before_sending)
CAMPAIGN_STATE_BY_CODE = {state.code: state for state in CampaignState}
