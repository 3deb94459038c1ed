"""Results by recipient: some numbers have a fixed outcome, as with the built-in simulator.

| Recipient | Texts | Alimtalk | Friend talk, brand message |
|---|---|---|---|
| 010-0000-0001 | 3003 not assigned | 3008 bad number | 3008 |
| 010-0000-0002 | 2003 phone off | 3005 not confirmed | 3005 |
| 010-0000-0003 | arrives | 3019 not a user of KakaoTalk | 3019 |
| 010-0000-0004 | arrives | 3020 blocks Alimtalk | 3018 cannot be delivered (not a friend) |
| 010-0000-0006 | never gets a result | the same | the same |
| 010-0000-0007 | arrives after 10 s | the same | the same |
| 010-0000-0008 | arrives; corrected to failed 1 s later (2001, 3006) | the same | the same |
"""

from collections.abc import Callable

from tests.fakes.nhncloud.state import ALIMTALK, BRAND, DELIVERED, FRIENDTALK, SMS, Behavior, Message, Results

LATE_S = 10.0
CORRECTED_AFTER_S = 1.0

_CODES = {
    "01000000001": {SMS: "3003", ALIMTALK: "3008", FRIENDTALK: "3008", BRAND: "3008"},
    "01000000002": {SMS: "2003", ALIMTALK: "3005", FRIENDTALK: "3005", BRAND: "3005"},
    "01000000003": {ALIMTALK: "3019", FRIENDTALK: "3019", BRAND: "3019"},
    "01000000004": {ALIMTALK: "3020", FRIENDTALK: "3018", BRAND: "3018"},
}
_SILENT, _LATE, _CORRECTED = "01000000006", "01000000007", "01000000008"
_CORRECTIONS = {SMS: "2001", ALIMTALK: "3006", FRIENDTALK: "3006", BRAND: "3006"}
_SPECIAL_NUMBERS = {*_CODES, _SILENT, _LATE, _CORRECTED}

_TALK_NAMES = {
    "3005": "메시지를 발송했으나 수신 확인이 안 됨",
    "3006": "내부 시스템 오류로 메시지 전송 실패",
    "3008": "전화번호 오류",
    "3018": "메시지를 전송할 수 없음",
    "3019": "카카오톡 유저가 아님",
    "3020": "알림톡 수신 차단",
    "4161": "처리중인 메시지",
    "3028": "메시지 강조 표기 타이틀이 템플릿과 일치하지 않음",
}
_TEXT_NAMES = {
    "2001": "전송 실패(무선망단)",
    "2003": "단말기 전원 꺼짐",
    "3003": "수신 번호 형식 오류 또는 결번",
}


def result_name(message: Message) -> str | None:
    if message.code is None or message.shown_code is None:
        return None
    if message.code == DELIVERED:
        return "성공"
    return (_TEXT_NAMES if message.product == SMS else _TALK_NAMES).get(message.code, "실패")


def schedule_results(
    messages: list[Message],
    behavior: Behavior,
    results: Results,
    code_of: Callable[[Message], str | None] | None = None,
) -> None:
    """Schedule the results of messages: the code of `code_of`, or the outcome of the recipient."""
    usual_s = behavior.receipt_after_s
    for message in messages:
        if message.refused:
            continue
        number = message.recipient_no.replace("-", "")
        outcome = behavior.outcomes.get((message.product, number))
        if outcome is None:
            fixed_code = code_of(message) if code_of else None
            if fixed_code is None and number not in _SPECIAL_NUMBERS:
                outcome = ((usual_s, DELIVERED),)
            else:
                outcome = (
                    ((usual_s, fixed_code),) if fixed_code else _special_results(message.product, number, usual_s)
                )
        for after_s, each in outcome:
            results.schedule(message, message.accepted_at + round(after_s * 1000), each)


def _special_results(product: str, number: str, usual_s: float) -> tuple[tuple[float, str], ...]:
    if number == _SILENT:
        return ()
    if number == _LATE:
        return ((max(LATE_S, usual_s), DELIVERED),)
    if number == _CORRECTED:
        return ((usual_s, DELIVERED), (usual_s + CORRECTED_AFTER_S, _CORRECTIONS[product]))
    return ((usual_s, _CODES[number].get(product, DELIVERED)),)
