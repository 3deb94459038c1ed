"""What to do about a message that was not delivered, by why it ended."""

from collections.abc import Mapping

from pabal.domain.base.codes import Text
from pabal.domain.sends.message import Outcome

_NUMBER = Text(
    "번호가 맞는지 수신자에게 확인하세요. 다시 보내도 결과는 같습니다.",
    "Check the number with the recipient. Sending again ends in the same way.",
)
_LATER = Text("나중에 다시 보내세요.", "Send it again later.")
_FALLBACK = Text(
    "resend를 true로 하고 resendPhoneNumber를 주어, 메신저로 전달되지 않으면 문자로 보내세요.",
    "Send it with resend true and a resendPhoneNumber, so that a text follows where the app does not deliver.",
)
_RELAY = Text(
    "events와 carrierCode를 보고 운영자에게 문의하세요. 발송 경로의 문제일 수 있습니다.",
    "Look at events and carrierCode, and ask the operator: the carrier may have a problem.",
)
_WITHHELD = Text(
    "보내지 않는 것이 맞습니다. 다시 보내지 마세요.", "It is right not to send it. Do not send it again."
)

ADVICE: Mapping[Outcome, Text] = {
    Outcome.TIMED_OUT: Text(
        "전달되었을 수도 있습니다. 다시 보내면 두 번 받을 수 있으니 수신자에게 먼저 확인하세요.",
        "It may have arrived. Ask the recipient first: sending again may deliver it twice.",
    ),
    Outcome.PHONE_OFF: _LATER,
    Outcome.NO_SUBSCRIBER: _NUMBER,
    Outcome.NUMBER_NOT_ASSIGNED: _NUMBER,
    Outcome.REFUSED_BY_RECEIVER: _WITHHELD,
    Outcome.SPAM: Text(
        "본문과 발신번호를 바꾸거나, 수신자의 스팸 차단 설정을 확인하세요.",
        "Change the text or the sender number, or check the recipient's spam filter.",
    ),
    Outcome.DIFFERS_FROM_TEMPLATE: Text(
        "list_templates로 승인된 본문을 보고, 변수와 버튼을 그대로 맞추세요.",
        "Look at the approved text with list_templates, and match its variables and buttons exactly.",
    ),
    Outcome.UNDELIVERABLE: _RELAY,
    Outcome.NOT_A_USER: _FALLBACK,
    Outcome.BLOCKED_BY_USER: _FALLBACK,
    Outcome.NOT_A_FRIEND: _FALLBACK,
    Outcome.UNKNOWN: Text(
        "전달되었는지 알 수 없습니다. 다시 보내면 두 번 받을 수 있습니다.",
        "Nobody knows whether it arrived. Sending again may deliver it twice.",
    ),
    Outcome.NOT_SENDABLE_AS_TEXT: Text(
        "대체 발송 본문을 줄이거나 resendContent를 따로 주세요.",
        "Shorten the text of the fallback, or give a resendContent.",
    ),
    Outcome.OPTED_OUT: _WITHHELD,
    Outcome.EXPIRED: Text(
        "아직 필요하면 다시 보내고, expireMinutes를 더 길게 주세요.",
        "If it is still wanted, send it again with a longer expireMinutes.",
    ),
    Outcome.DUPLICATE: _WITHHELD,
    Outcome.CARRIER_ERROR: _LATER,
}
