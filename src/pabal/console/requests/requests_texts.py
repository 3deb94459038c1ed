"""Words of the pages that follow what was sent."""

from pabal.domain.codes import Text

TEXTS = {
    "menu.requests": Text("발송 현황", "Progress"),
    "follow.title": Text("발송 현황", "Progress"),
    "follow.about": Text(
        "캠페인과 발송 요청을 최신순으로 표시합니다. 진행 중인 항목은 2초마다 새로 고칩니다.",
        "Campaigns and requests, newest first. Those in progress are refreshed every 2 seconds.",
    ),
    "follow.none": Text("아직 발송한 메시지가 없습니다.", "No messages have been sent yet."),
    "follow.unreadable": Text(
        "저장된 기록이 손상되어 읽을 수 없는 요청이 있습니다. 운영자에게 요청 ID {id}를 알려 주세요.",
        "The stored record of a request is damaged and cannot be read. Tell the operator its ID {id}.",
    ),
    "follow.time": Text("요청 시각", "Requested"),
    "follow.what": Text("발송", "Message"),
    "follow.progress": Text("진행", "Progress"),
    "follow.campaign": Text("캠페인", "Campaign"),
    "follow.details": Text("자세히", "Details"),
    "follow.scheduled": Text("예약됨", "Scheduled"),
    "follow.scheduled_at": Text("예약 {time}", "for {time}"),
    "follow.ended": Text("발송 종료", "Finished"),
    "follow.total": Text("전체 {count:,}", "{count:,} in total"),
    "follow.fallbacks": Text("대체 문자", "Fallbacks"),
    "follow.unmade": Text("접수 전", "Not accepted yet"),
    "follow.unsent": Text("미발송", "Not sent"),
    "follow.news": Text("발송이 끝났습니다: {names}", "Finished: {names}"),
    "follow.back": Text("발송 현황으로", "Back to progress"),
    "follow.facts": Text("기본 정보", "Details"),
    "follow.content": Text("내용", "Text"),
    "follow.file": Text("파일", "File"),
    "follow.bad": Text("발송할 수 없는 행", "Invalid rows"),
    "follow.history": Text("메시지별 발송 결과 보기", "View the result of each message"),
    "follow.part_of": Text("이 요청은 캠페인의 일부입니다", "This request is part of a campaign"),
    "follow.parts": Text("이 캠페인의 요청", "Requests of this campaign"),
    "follow.part": Text("{number}번째 ({count:,}명)", "Request {number} ({count:,})"),
    "follow.parts.more": Text("외 {count}개", "and {count} more"),
    "follow.actions": Text("작업", "Actions"),
    "follow.halted": Text(
        "접수가 중단되었습니다. 아래 원인을 해결한 뒤 계속하거나 취소하세요.",
        "The campaign was halted. Resolve the cause below, then resume or cancel it.",
    ),
    "follow.paused": Text(
        "계정의 발송 한도에 도달해 나머지 접수가 대기 중입니다. 한도가 초기화되거나 올라가면 자동으로 계속합니다.",
        "The account has reached a limit. The rest of the campaign continues by itself when the limit resets or is "
        "raised.",
    ),
    "follow.go_on": Text("계속하기", "Resume"),
    "follow.now": Text("즉시 발송", "Send now"),
    "follow.now.ask": Text(
        "예약 시각을 기다리지 않고 지금 발송하시겠습니까?", "Send now instead of at the scheduled time?"
    ),
    "follow.now.yes": Text("예, 지금 발송합니다", "Yes, send now"),
    "follow.copy": Text("복사해서 다시 작성", "Copy and send again"),
    "follow.resend": Text("실패한 수신자에게 다시 보내기", "Resend to those who were not reached"),
    "follow.edit": Text("내용·시각 바꾸기", "Change text or time"),
    "follow.cancel": Text("발송 취소", "Cancel sending"),
    "follow.cancel.ask": Text(
        "아직 발송하지 않은 메시지를 모두 취소하시겠습니까? 되돌릴 수 없습니다.",
        "Cancel all messages that are still waiting? This cannot be undone.",
    ),
    "follow.cancel.yes": Text("예, 취소합니다", "Yes, cancel"),
    "follow.id": Text("요청 ID", "Request ID"),
}
