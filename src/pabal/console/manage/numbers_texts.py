"""Words of sender numbers."""

from pabal.domain.codes import Text

TEXTS = {
    "menu.numbers": Text("발신번호", "Numbers"),
    "numbers.title": Text("발신번호", "Sender numbers"),
    "numbers.about": Text(
        "수신자의 휴대폰에 표시되는 번호입니다. 국내에서는 미리 등록한 번호로만 문자를 보낼 수 있습니다.",
        "The number that the receiver of a text sees. In Korea, texts may be sent only from registered numbers.",
    ),
    "numbers.here": Text(
        "여기에 등록하면 이 서비스에서 발신번호로 쓸 수 있습니다. 번호의 소유를 증명하는 것은 아닙니다.",
        "A number that is registered here is accepted as a sender by this service. It proves nobody's right to it.",
    ),
    "numbers.there": Text(
        "통신사나 중계사에도 통신서비스 이용증명원을 내고 등록해야 합니다. 등록하지 않으면 발송이 실패합니다.",
        "Register it with your carrier or relay, too, with the proof of use that they ask for: they refuse others.",
    ),
    "numbers.checked": Text(
        "지금은 등록된 번호만 발신번호로 쓸 수 있습니다.", "At present, only registered numbers may be used."
    ),
    "numbers.unchecked": Text(
        "지금은 등록하지 않은 번호도 발신번호로 쓸 수 있습니다. 실제 통신사를 연결하면 등록된 번호만 쓸 "
        "수 있습니다.",
        "At present, other numbers may be used as well. Once a real carrier is set up, only registered ones may.",
    ),
    "numbers.list": Text("등록된 번호", "Registered numbers"),
    "numbers.number": Text("번호", "Number"),
    "numbers.state": Text("상태", "State"),
    "numbers.registered": Text("등록됨", "Registered"),
    "numbers.since": Text("등록 시각", "Since"),
    "numbers.actions": Text("작업", "Actions"),
    "numbers.remove": Text("삭제", "Remove"),
    "numbers.remove_it": Text("{number} 삭제", "Remove {number}"),
    "numbers.none": Text(
        "등록된 번호가 없습니다. 위에서 등록하세요.", "No number is registered. Register one above."
    ),
    "numbers.new": Text("등록할 번호", "Number to register"),
    "numbers.add": Text("등록", "Register"),
    "number_remove.ask": Text("{number} 번호를 정말 삭제할까요?", "Really remove {number}?"),
    "number_remove.what": Text(
        "발신번호를 확인하는 환경에서는 이 번호로 더 보낼 수 없습니다. 이미 접수한 메시지는 예약된 것까지 "
        "그대로 발송됩니다.",
        "Nothing new can be sent from it where numbers are checked. What was accepted before still goes out.",
    ),
    "number_remove.title": Text("발신번호 삭제", "Remove a sender number"),
    "number_remove.do": Text("삭제", "Remove it"),
    "number_remove.keep": Text("취소", "Keep it"),
}
