"""Words of the simulated phone."""

from pabal.domain.codes import Text

TEXTS = {
    "menu.phone": Text("가상 휴대폰", "Phone"),
    "phone.title": Text("가상 휴대폰", "Simulated phone"),
    "phone.about": Text(
        "시뮬레이터로 보낸 메시지가 도착하는 휴대폰입니다. 화면을 열어 두면 새 메시지가 바로 표시됩니다.",
        "Messages sent through the simulator arrive here. Leave it open: new ones appear by themselves.",
    ),
    "phone.number": Text("휴대폰 번호", "Phone number"),
    "phone.show": Text("보기", "Show"),
    "phone.known": Text("최근에 메시지를 받은 휴대폰", "Phones that received something lately"),
    "phone.nobody": Text(
        "아직 메시지를 받은 휴대폰이 없습니다. 번호를 입력하고 기다리거나 메시지를 보내세요.",
        "No phone has received anything yet. Enter a number and wait, or send a message.",
    ),
    "phone.of": Text("{number}의 메시지", "Messages of {number}"),
    "phone.empty": Text("받은 메시지가 없습니다.", "Nothing has arrived."),
    "phone.news": Text("새 메시지: {kind}, {sender}", "New message: {kind}, from {sender}"),
    "phone.token": Text("인증 토큰", "Token"),
    "phone.image": Text("이미지가 함께 도착했습니다", "A picture came along"),
    "phone.more": Text(
        "전체 {total}건 중 최근 {shown}건을 보여 줍니다.", "{total} in all; the newest {shown} are shown."
    ),
}
