"""Texts of the simulated phone."""

from pabal.domain.base.codes import Text

TEXTS = {
    "menu.phone": Text("가상 휴대폰", "Simulated phone"),
    "phone.title": Text("가상 휴대폰", "Simulated phone"),
    "phone.about": Text(
        "시뮬레이터로 발송한 메시지가 도착하는 가상의 휴대폰입니다. 화면을 열어 두면 새 메시지가 바로 표시됩니다.",
        "Messages sent through the simulator arrive here. New messages appear while this page is open.",
    ),
    "phone.number": Text("휴대폰 번호", "Phone number"),
    "phone.show": Text("보기", "Show"),
    "phone.known": Text("최근에 메시지를 받은 휴대폰", "Phones that received messages recently"),
    "phone.nobody": Text(
        "아직 메시지를 받은 휴대폰이 없습니다. 번호를 입력해 두거나 메시지를 발송하세요.",
        "No phone has received a message yet. Enter a number, or send a message.",
    ),
    "phone.of": Text("{number} 번호의 메시지", "Messages to {number}"),
    "phone.empty": Text("받은 메시지가 없습니다.", "No messages yet."),
    "phone.news": Text("새 메시지: {kind}, {sender}", "New message: {kind}, from {sender}"),
    "phone.token": Text("인증 토큰", "Verification token"),
    "phone.image": Text("이미지가 첨부되었습니다", "Image attached"),
    "phone.more": Text("전체 {total}건 중 최근 {shown}건을 표시합니다.", "Showing the latest {shown} of {total}."),
}
