"""How a relay's answer changes a stored template, whatever its state."""

from typing import NamedTuple

import pytest

from pabal.carriers.nhncloud.client import NhnCloudClient
from pabal.carriers.nhncloud.provider import NhnCloudProvider
from pabal.carriers.provider import RemoteTemplate
from pabal.domain.content.button import Button
from pabal.domain.kakao.profile import Suspension
from pabal.domain.kakao.template import Template, TemplateContent, TemplateStatus
from pabal.service.relay.sync import SETTLING_MS, TemplateState, is_missing, merge_template
from tests.fixtures.virtual import NOON

REGISTERED, INSPECTING = TemplateStatus.REGISTERED, TemplateStatus.INSPECTING
APPROVED, REJECTED = TemplateStatus.APPROVED, TemplateStatus.REJECTED
CALL = Button("counselingTalkConversion", "상담")
A = TemplateContent("주문", "첫째 글", "999999")
B = A._replace(content="둘째 글")
C = A._replace(content="셋째 글")
RICH = A._replace(image_name="그림", buttons=(CALL._replace(chat_extra="주문", order_number=3),))
PLAIN = A._replace(buttons=(CALL,))
RELAY = NhnCloudProvider(NhnCloudClient("http://127.0.0.1", "key", "secret"), 1.0)
LATER = NOON + SETTLING_MS


def ours(
    status: TemplateStatus,
    design: TemplateContent = A,
    in_use: TemplateContent | None = None,
    bar: Suspension | None = None,
) -> Template:
    return Template(1, 1, 1, "key", "@shop", "T", design, in_use, status, None, True, NOON, NOON, "relay", bar)


def theirs(
    status: TemplateStatus, design: TemplateContent = A, comment: str | None = None, bar: Suspension | None = None
) -> RemoteTemplate:
    return RemoteTemplate("T", design, status, comment, bar)


class Case(NamedTuple):
    """A stored template, the relay's answer, and the expected result."""

    mine: Template
    sheet: RemoteTemplate
    result: TemplateState
    change: RemoteTemplate | None = None
    now: int = LATER


CASES = {
    "approved": Case(ours(INSPECTING), theirs(APPROVED), TemplateState(A, A, APPROVED, None, None), now=NOON),
    "rejected": Case(
        ours(INSPECTING), theirs(REJECTED, comment="왜"), TemplateState(A, None, REJECTED, "왜", None), now=NOON
    ),
    "nothing new": Case(ours(APPROVED, A, A), theirs(APPROVED), TemplateState(A, A, APPROVED, None, None)),
    "changed there": Case(ours(APPROVED, A, A), theirs(APPROVED, B), TemplateState(B, B, APPROVED, None, None)),
    "ours says more": Case(
        ours(INSPECTING, RICH), theirs(APPROVED, PLAIN), TemplateState(RICH, RICH, APPROVED, None, None)
    ),
    "reviewed again": Case(ours(REJECTED), theirs(INSPECTING), TemplateState(A, None, INSPECTING, None, None)),
    "a draft stays": Case(ours(REGISTERED, B, A), theirs(APPROVED), TemplateState(B, A, REGISTERED, None, None)),
    "a draft stays, another text is in use": Case(
        ours(REGISTERED, B, A), theirs(APPROVED, C), TemplateState(B, C, REGISTERED, None, None)
    ),
    "a draft was handed in unseen": Case(
        ours(REGISTERED), theirs(INSPECTING), TemplateState(A, None, INSPECTING, None, None)
    ),
    "a change under review": Case(
        ours(INSPECTING, B, A), theirs(APPROVED), TemplateState(B, A, INSPECTING, None, None), theirs(INSPECTING, B)
    ),
    "a change was rejected": Case(
        ours(INSPECTING, B, A),
        theirs(APPROVED),
        TemplateState(B, A, REJECTED, "왜", None),
        theirs(REJECTED, B, "왜"),
    ),
    "a change was approved, and the list is behind": Case(
        ours(INSPECTING, B, A), theirs(APPROVED), TemplateState(B, A, INSPECTING, None, None), theirs(APPROVED, B)
    ),
    "a change was approved": Case(
        ours(INSPECTING, B, A), theirs(APPROVED, B), TemplateState(B, B, APPROVED, None, None)
    ),
    "handed in, and the list is behind": Case(
        ours(INSPECTING, B, A), theirs(APPROVED), TemplateState(B, A, INSPECTING, None, None), now=LATER - 1
    ),
    "handed in, and not there after a while": Case(
        ours(INSPECTING, B, A), theirs(APPROVED), TemplateState(A, A, APPROVED, None, None)
    ),
    "under review there, while another text is in use": Case(
        ours(APPROVED, A, A), theirs(INSPECTING, B), TemplateState(B, A, INSPECTING, None, None)
    ),
    "barred": Case(
        ours(APPROVED, A, A),
        theirs(APPROVED, bar=Suspension.OTHER_BUTTON),
        TemplateState(A, A, APPROVED, None, Suspension.OTHER_BUTTON),
    ),
    "back again": Case(
        ours(APPROVED, A, A, Suspension.GONE), theirs(APPROVED), TemplateState(A, A, APPROVED, None, None)
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_template_takes_the_state_of_the_relay(case: Case) -> None:
    assert merge_template(RELAY, case.mine, case.sheet, case.change, case.now) == case.result


@pytest.mark.parametrize(
    ("mine", "now", "is_so"),
    [
        (ours(REGISTERED), LATER, False),
        (ours(REGISTERED, B, A), LATER, True),
        (ours(APPROVED, A, A), NOON, True),
        (ours(REJECTED), NOON, True),
        (ours(INSPECTING), LATER - 1, False),
        (ours(INSPECTING), LATER, True),
        (ours(APPROVED, A, A, Suspension.GONE), LATER, False),
    ],
)
def test_template_missing_at_the_relay_is_detected(mine: Template, now: int, is_so: bool) -> None:
    assert is_missing(mine, now) is is_so
