"""Results by receiver: some numbers have a fixed outcome, as with the built-in simulator.

| Receiver | Texts | Alimtalk | Brand message |
|---|---|---|---|
| 010-0000-0001 | 3032 no subscriber | 3104 not a user of KakaoTalk | 3104 |
| 010-0000-0002 | 3043 phone off | 3040 no result in time | 3040 |
| 010-0000-0003 | arrives | 3104 not a user of KakaoTalk | 3104 |
| 010-0000-0004 | arrives | 3107 blocks Alimtalk | 3102 not a friend |
| 010-0000-0006 | never gets a result | the same | the same |
| 010-0000-0007 | arrives after 10 s | the same | the same |
| 010-0000-0008 | arrives; corrected to failed (3031) 1 s later | the same | the same |
"""

from tests.fakes.solapi.state import AT_CARRIER, DELIVERED, SolapiMessage, State

LATE_S = 10.0
CORRECTED_AFTER_S = 1.0
_TEXT_CODES = {"01000000001": "3032", "01000000002": "3043"}
_TALK_CODES = {
    "01000000001": "3104",
    "01000000002": "3040",
    "01000000003": "3104",
    "01000000004": "3107",
}
_NEVER, _LATE, _CORRECTED = "01000000006", "01000000007", "01000000008"
_NOT_A_FRIEND = "01000000004"


def schedule_result(state: State, message: SolapiMessage) -> None:
    """Schedule what becomes of an accepted message."""
    after_s = LATE_S if message.to == _LATE else state.behavior.receipt_after_s
    now, after = state.clock(), round(after_s * 1000)
    state.schedule(message, now + after // 2, AT_CARRIER)
    if message.to == _NEVER:
        return
    codes = _TALK_CODES if message.kakao else _TEXT_CODES
    code = codes.get(message.to, DELIVERED)
    if message.to == _NOT_A_FRIEND and message.type.startswith("BMS"):
        code = "3102"
    state.schedule(message, now + after, code)
    if message.to == _CORRECTED:
        state.schedule(message, now + after + round(CORRECTED_AFTER_S * 1000), "3031")
