"""The page of result codes: what each means, and what to do."""

from starlette.responses import Response

from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Code, Text
from pabal.domain.sends.message import Outcome, Status
from pabal.service.history.timeline import Message

ADVICE = {
    Outcome.DELIVERED: Text(
        "정상적으로 전달되었습니다. 조치할 사항이 없습니다.", "The message was delivered. Nothing to do."
    ),
    Outcome.TIMED_OUT: Text(
        "발송 경로가 제시간에 결과를 알려 주지 않았습니다. "
        "전달되었을 수도 있으니 수신자에게 확인한 뒤 다시 발송하세요.",
        "The carrier did not report in time. It may have been delivered; ask the receiver before you resend it.",
    ),
    Outcome.PHONE_OFF: Text(
        "휴대폰이 꺼져 있거나 신호가 닿지 않습니다. 나중에 다시 발송하세요.",
        "The phone is off or out of range. Send it again later.",
    ),
    Outcome.NO_SUBSCRIBER: Text(
        "가입자가 없는 번호입니다. 번호를 확인하고 수신자 목록에서 삭제하세요.",
        "This number has no subscriber. Check it, and remove it from your list.",
    ),
    Outcome.NUMBER_NOT_ASSIGNED: Text(
        "없는 번호입니다. 번호를 확인하고 수신자 목록에서 삭제하세요.",
        "This number does not exist. Check it, and remove it from your list.",
    ),
    Outcome.REFUSED_BY_RECEIVER: Text(
        "수신자가 수신을 거부했습니다. 다시 발송하지 마세요.",
        "The receiver has opted out of such messages. Do not send it again.",
    ),
    Outcome.SPAM: Text(
        "발송 경로가 스팸으로 판단했습니다. 내용과 링크를 고치고 발신번호의 신고 이력을 확인하세요.",
        "The carrier classified it as spam. "
        "Change text and links, and check whether the sender number was reported.",
    ),
    Outcome.DIFFERS_FROM_TEMPLATE: Text(
        "내용이 승인된 템플릿과 다릅니다. 템플릿과 변수 값을 확인하세요.",
        "The text differs from the approved template. Check the template and the values of its variables.",
    ),
    Outcome.UNDELIVERABLE: Text(
        "발송 경로가 전달하지 못했습니다. 번호와 내용을 확인하고 다시 발송하세요.",
        "The carrier could not deliver it. Check number and text, then send it again.",
    ),
    Outcome.NOT_A_USER: Text(
        "수신자가 카카오톡을 쓰지 않습니다. 대체 발송을 설정하거나 문자로 발송하세요.",
        "The receiver does not use KakaoTalk. Turn on the fallback, or send a text message.",
    ),
    Outcome.BLOCKED_BY_USER: Text(
        "수신자가 채널을 차단했습니다. 꼭 필요하면 문자로 발송하세요.",
        "The receiver has blocked the channel. If it matters, send a text message.",
    ),
    Outcome.NOT_A_FRIEND: Text(
        "수신자가 채널의 친구가 아닙니다. 알림톡이나 문자로 발송하세요.",
        "The receiver is not a friend of the channel. Send an Alimtalk or a text message.",
    ),
    Outcome.UNKNOWN: Text(
        "접수되었는지 알 수 없습니다. 전달되었을 수도 있으니 수신자에게 확인한 뒤 다시 발송하세요.",
        "It is unknown whether the carrier accepted it. "
        "It may have been delivered; ask the receiver before you resend it.",
    ),
    Outcome.NOT_SENDABLE_AS_TEXT: Text(
        "대체 문자로 발송할 수 없는 글자가 있거나 내용이 너무 깁니다. 대체 문자의 내용을 따로 입력하세요.",
        "The fallback contains characters that text messages cannot carry, or is too long. "
        "Write a separate text for it.",
    ),
    Outcome.OPTED_OUT: Text(
        "수신거부한 번호라서 광고를 발송하지 않았고 비용도 없습니다. 수신 동의를 다시 받았으면 수신거부 목록에서 "
        "삭제하세요.",
        "The receiver has opted out of advertising, so it was not sent and costs nothing. "
        "If the receiver has agreed again, remove the number from the opt-outs.",
    ),
    Outcome.EXPIRED: Text(
        "발송 기한까지 전송하지 못해 발송하지 않았습니다. 아직 필요한 내용이면 다시 발송하세요.",
        "No carrier could take it before its deadline, so it was not sent. Send it again if it still matters.",
    ),
    Outcome.DUPLICATE: Text(
        "같은 내용을 이 번호로 이미 보냈으므로 발송하지 않았습니다. 꼭 다시 보내야 하면 내용을 바꾸거나 잠시 뒤에 "
        "보내세요.",
        "The same text was sent to this number already, so it was not sent again. "
        "If it must be, change the text or wait.",
    ),
    Outcome.CARRIER_ERROR: Text(
        "발송 경로의 시스템 오류입니다. 잠시 뒤 다시 발송하고, 반복되면 운영자에게 알리세요.",
        "The carrier's system failed. Send it again later, and tell the operator if it keeps failing.",
    ),
}
"""A test checks that every outcome has advice."""
FALLBACK_ARRIVED = Text(
    "대체 문자가 전달되었습니다. 조치할 사항이 없습니다.", "The fallback was delivered. Nothing to do."
)
FALLBACK_UNDER_WAY = Text(
    "대체 문자를 발송하고 있습니다. 그 결과를 기다리세요.", "The fallback is on its way. Wait for its result."
)
FALLBACK_FAILED = Text("대체 문자도 전달되지 않았습니다.", "The fallback was not delivered either.")
CODES_PATH = "/console/codes"


def advise(message: Message, fallback: Message | None) -> list[Text]:
    """Return what to do about a message, given the result of its fallback; empty while it has no outcome."""
    if message.outcome is None:
        return []
    if fallback is None or fallback.status is Status.CANCEL:
        return [ADVICE[message.outcome]]
    if fallback.status is Status.COMPLETED:
        return [FALLBACK_ARRIVED]
    if fallback.outcome is None:
        return [FALLBACK_UNDER_WAY]
    return [FALLBACK_FAILED, ADVICE[fallback.outcome]]


async def show_codes(request: PageRequest) -> Response:
    """Show the outcomes of messages and the results of API calls."""
    return request.render(
        "history/codes.html",
        outcomes=[(each, ADVICE[each]) for each in Outcome],
        results=[each for each in Code if each is not Code.SUCCESS],
    )
