"""What to do about a message, by its outcome."""

from pabal.domain.codes import Text
from pabal.domain.message import Outcome

ADVICE = {
    Outcome.DELIVERED: Text(
        "휴대폰에 도착했습니다. 따로 조치할 일은 없습니다.", "It has arrived. There is nothing to do."
    ),
    Outcome.TIMED_OUT: Text(
        "통신사가 제시간에 결과를 알려 주지 않았습니다. 도착했을 수도 있으니 수신자에게 확인한 뒤 다시 보내세요.",
        "The carrier did not report in time. It may have arrived: ask the receiver before you send it again.",
    ),
    Outcome.PHONE_OFF: Text(
        "휴대폰이 꺼져 있거나 신호가 닿지 않습니다. 나중에 다시 보내세요.",
        "The phone is off or out of reach. Send it again later.",
    ),
    Outcome.NO_SUBSCRIBER: Text(
        "가입자가 없는 번호입니다. 번호를 확인하고 목록에서 지우세요.",
        "Nobody subscribes to this number. Check it, and take it off your list.",
    ),
    Outcome.NUMBER_NOT_ASSIGNED: Text(
        "없는 번호입니다. 번호를 확인하고 목록에서 지우세요.",
        "There is no such number. Check it, and take it off your list.",
    ),
    Outcome.REFUSED_BY_RECEIVER: Text(
        "수신자가 수신을 거부했습니다. 다시 보내지 마세요.",
        "The receiver does not want such messages. Do not send it again.",
    ),
    Outcome.SPAM: Text(
        "통신사가 스팸으로 판단했습니다. 내용과 링크를 고치고 발신번호의 신고 이력을 확인하세요.",
        "The carrier took it for spam. Change text and links, and see whether the sender number was reported.",
    ),
    Outcome.DIFFERS_FROM_TEMPLATE: Text(
        "내용이 승인된 템플릿과 다릅니다. 템플릿과 변수의 값을 확인하세요.",
        "The text differs from the approved template. Check the template and the values of its variables.",
    ),
    Outcome.UNDELIVERABLE: Text(
        "통신사가 전달하지 못했습니다. 번호와 내용을 확인하고 다시 보내세요.",
        "The carrier could not deliver it. Check number and text, then send it again.",
    ),
    Outcome.NOT_A_USER: Text(
        "수신자가 카카오톡을 쓰지 않습니다. 대체 문자를 켜거나 문자로 보내세요.",
        "The receiver does not use the messaging app. Turn the fallback on, or send a text message.",
    ),
    Outcome.BLOCKED_BY_USER: Text(
        "수신자가 채널을 차단했습니다. 꼭 필요하면 문자로 보내세요.",
        "The receiver has blocked the channel. If it matters, send a text message.",
    ),
    Outcome.NOT_A_FRIEND: Text(
        "수신자가 채널의 친구가 아닙니다. 알림톡이나 문자로 보내세요.",
        "The receiver is not a friend of the channel. Send an Alimtalk or a text message.",
    ),
    Outcome.UNKNOWN: Text(
        "통신사가 받았는지 알 수 없습니다. 도착했을 수도 있으니 수신자에게 확인한 뒤 다시 보내세요.",
        "Nobody knows whether the carrier took it. It may have arrived: ask the receiver before you send it again.",
    ),
    Outcome.NOT_SENDABLE_AS_TEXT: Text(
        "대체 문자로 보낼 수 없는 글자가 있거나 너무 깁니다. 대체 문자의 내용을 따로 입력하세요.",
        "The fallback holds characters that texts cannot, or is too long. Write a text of its own for it.",
    ),
    Outcome.CARRIER_ERROR: Text(
        "통신사 시스템의 오류입니다. 잠시 뒤 다시 보내고, 되풀이되면 운영자에게 알리세요.",
        "The carrier's system failed. Send it again in a while, and tell the operator if it goes on.",
    ),
}
"""A test checks that every outcome has advice."""
