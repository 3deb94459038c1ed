"""Sender numbers and their approval."""

from enum import Enum

from pabal.domain.base.codes import Text


class NumberState(Enum):
    """Whether an account may send from a number that it registered."""

    PENDING = ("pending", Text("승인 대기", "Pending"))
    APPROVED = ("approved", Text("등록됨", "Registered"))
    REJECTED = ("rejected", Text("반려", "Rejected"))

    def __init__(self, code: str, label: Text) -> None:
        self.code = code
        self.label = label


NUMBER_STATE_BY_CODE = {state.code: state for state in NumberState}
