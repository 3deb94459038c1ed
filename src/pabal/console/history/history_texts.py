"""Words of the message history and of one message, and why something waits."""

from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Text
from pabal.domain.base.dates import SECOND
from pabal.service.history.history import Wait


def describe_wait(request: PageRequest, wait: Wait | None, *, is_short: bool = False) -> str:
    """Return why something waits, and what happens next unless that is to be short; empty without a reason."""
    if wait is None:
        return ""
    age = request.age(max(0, request.now - wait.at) // SECOND)
    word = f"short.{wait.reason.value}" if is_short else wait.reason.value
    return request.t(f"wait.{word}", carrier=wait.carrier, age=age, at=request.short_minute(wait.at))


TEXTS = {
    "menu.history": Text("발송 내역", "History"),
    "menu.codes": Text("결과 코드", "Result codes"),
    "codes.outcomes": Text("메시지의 결과", "Outcomes of messages"),
    "codes.results": Text("API 호출의 결과", "Results of API calls"),
    "codes.code": Text("코드", "Code"),
    "codes.meaning": Text("뜻", "Meaning"),
    "codes.remedy": Text("해야 할 일", "What to do"),
    "history.clear": Text("전체 지우기", "Clear all"),
    "history.filters": Text("필터", "Filters"),
    "history.apply": Text("필터 적용", "Apply filters"),
    "history.remove": Text("조건 지우기", "Remove filter"),
    "history.requested": Text("요청일", "Requested"),
    "history.scheduled": Text("예약일", "Scheduled"),
    "history.completed": Text("완료일", "Completed"),
    "history.any": Text("전체", "Any"),
    "history.receiver": Text("수신번호", "Receiver"),
    "history.product": Text("메시지 종류", "Message type"),
    "history.status": Text("상태", "Status"),
    "history.requested_from": Text("요청일 (부터)", "Requested from"),
    "history.requested_to": Text("요청일 (까지)", "Requested to"),
    "history.scheduled_from": Text("예약일 (부터)", "Scheduled from"),
    "history.scheduled_to": Text("예약일 (까지)", "Scheduled to"),
    "history.completed_from": Text("완료일 (부터)", "Completed from"),
    "history.completed_to": Text("완료일 (까지)", "Completed to"),
    "history.month": Text("예약 월", "Scheduled month"),
    "history.request": Text("요청·캠페인 ID", "Request or campaign ID"),
    "history.outcome": Text("결과 코드", "Result code"),
    "history.message": Text("메시지 ID", "Message ID"),
    "history.channel": Text("채널 ID", "Channel ID"),
    "history.sender_key": Text("발신 프로필 키", "Sender key"),
    "history.template": Text("템플릿 코드", "Template code"),
    "history.found": Text("검색 결과", "Messages found"),
    "history.none": Text(
        "조건에 맞는 메시지가 없습니다. 조건을 줄이거나 바꿔 보세요.",
        "No messages match. Remove or change a filter.",
    ),
    "history.bad_search": Text(
        "검색하지 않았습니다. 아래 검색 조건을 고치세요.", "Nothing was searched. Correct these filters:"
    ),
    "history.looked_until": Text(
        "{until}까지 검색했습니다. 더 오래된 메시지는 아래에서 이어서 검색하세요.",
        "Searched back to {until}. Continue below to search older messages.",
    ),
    "history.unreadable": Text(
        "이 메시지의 저장된 기록이 손상되어 읽을 수 없습니다. 운영자에게 메시지 ID {id}를 알려 주세요.",
        "The stored record of this message is damaged and cannot be read. Tell the operator its ID {id}.",
    ),
    "history.export": Text("CSV 내려받기", "Download CSV"),
    "history.workbook": Text("엑셀 내려받기", "Download Excel"),
    "history.result": Text("발송 결과", "Result"),
    "history.fallback": Text("대체 발송", "Fallback"),
    "history.reached_by_fallback": Text("대체 문자로 도달", "Reached by fallback"),
    "history.fallback_sending": Text("대체 문자 발송 중", "Fallback being sent"),
    "message.title": Text("메시지 상세", "Message details"),
    "message.back": Text("발송 내역으로", "Back to history"),
    "message.what_to_do": Text("조치 방법", "What to do"),
    "message.timeline": Text("처리 이력", "Timeline"),
    "message.facts": Text("기본 정보", "Details"),
    "message.sender": Text("발신번호·채널", "Sender"),
    "message.key": Text("API 키", "API key"),
    "message.expires": Text("발송 기한", "Deadline"),
    "message.look_of_it": Text("휴대폰에 보이는 모습", "As the phone shows it"),
    "message.brand": Text("브랜드 메시지", "Brand message"),
    "message.delivered_as_brand": Text("브랜드 메시지로 전달", "Delivered as a brand message"),
    "message.of_request": Text("같은 요청의 메시지 모두 보기", "View all messages of this request"),
    "message.origin": Text(
        "실패한 메시지 대신 발송한 대체 문자입니다", "This is the fallback for a message that failed"
    ),
    "message.has_fallback": Text(
        "이 메시지 대신 대체 문자를 발송했습니다", "A fallback message was sent for this one"
    ),
    "message.look": Text("보기 ({status})", "View it ({status})"),
    "timeline.accepted": Text("발송 요청을 접수했습니다.", "Request accepted."),
    "timeline.fallback": Text(
        "원래 메시지가 실패해 대체 문자를 만들었습니다.", "The original message failed; this fallback was created."
    ),
    "timeline.scheduled": Text("이 시각으로 발송이 예약되었습니다.", "Scheduled for this time."),
    "timeline.verdict.busy": Text(
        "{number}번째 시도: {carrier} 발송 경로가 혼잡해 다시 시도합니다.",
        "Attempt {number}: {carrier} was busy. It will be retried.",
    ),
    "timeline.verdict.unknown": Text(
        "{number}번째 시도: {carrier} 발송 경로의 응답을 받지 못했습니다.",
        "Attempt {number}: no response from {carrier}.",
    ),
    "timeline.verdict.declined": Text(
        "{number}번째 시도: {carrier} 발송 경로가 접수하지 않아 다른 발송 경로로 보냅니다.",
        "Attempt {number}: {carrier} did not accept it. The next carrier is tried.",
    ),
    "timeline.verdict.unmapped": Text(
        "{number}번째 시도: {carrier} 발송 경로에 연결된 발신 프로필이나 템플릿이 없어 건너뜁니다.",
        "Attempt {number}: skipped {carrier}, which has no mapping for the profile or template.",
    ),
    "timeline.verdict.rejected": Text(
        "{number}번째 시도: {carrier} 발송 경로가 접수를 거절했습니다.", "Attempt {number}: {carrier} rejected it."
    ),
    "timeline.verdict.away": Text(
        "{number}번째 시도: {carrier} 발송 경로로 전송하지 못했습니다.",
        "Attempt {number}: it was not transmitted to {carrier}.",
    ),
    "timeline.verdict.accepted": Text("{carrier} 발송 경로가 접수했습니다.", "{carrier} accepted it."),
    "timeline.submitted": Text("{carrier} 발송 경로로 전송했습니다.", "Submitted to {carrier}."),
    "timeline.receipt": Text("{carrier} 발송 경로가 결과를 알려 왔습니다.", "{carrier} reported the result."),
    "timeline.code": Text("(발송 경로 코드 {code})", "(carrier's code {code})"),
    "timeline.fallback_made": Text("대체 문자를 만들었습니다.", "A fallback was created."),
    "timeline.queued": Text(
        "이 시각에 {carrier} 발송 경로로 발송합니다.", "Will be sent to {carrier} at this time."
    ),
    "timeline.in_flight": Text(
        "{carrier} 발송 경로로 발송하고 있습니다. 늦어도 이 시각까지 응답을 기다립니다.",
        "Being sent to {carrier}. A response is expected by this time.",
    ),
    "timeline.awaiting_receipt": Text(
        "{carrier} 발송 경로가 접수했습니다. 늦어도 이 시각까지 발송 결과를 기다립니다.",
        "{carrier} accepted it. The delivery receipt is expected by this time.",
    ),
    "timeline.completed": Text("전달되었습니다: {reason}", "Delivered: {reason}"),
    "timeline.fail": Text("실패했습니다: {reason}", "Failed: {reason}"),
    "timeline.cancel": Text("취소되었습니다.", "Cancelled."),
    "export.cut": Text(
        "최대 {most}건까지 내려받았습니다. 나머지는 기간을 좁혀 다시 내려받으세요.",
        "This file is limited to {most} messages. Narrow the period to download the rest.",
    ),
    "export.requestDate": Text("요청 시각", "Requested"),
    "export.scheduledDate": Text("예약 시각", "Scheduled"),
    "export.completedDate": Text("완료 시각", "Completed"),
    "export.product": Text("메시지 종류", "Message type"),
    "export.receiver": Text("수신번호", "Receiver"),
    "export.status": Text("상태", "Status"),
    "export.resultCode": Text("결과 코드", "Result code"),
    "export.result": Text("발송 결과", "Result"),
    "export.sender": Text("발신번호", "Sender"),
    "export.channelId": Text("채널 ID", "Channel ID"),
    "export.templateCode": Text("템플릿 코드", "Template code"),
    "export.subject": Text("제목", "Subject"),
    "export.content": Text("내용", "Text"),
    "export.reference": Text("참조 ID", "Reference"),
    "export.requestId": Text("요청 ID", "Request ID"),
    "export.messageId": Text("메시지 ID", "Message ID"),
    "export.submittedDate": Text("전송 시각", "Submitted"),
    "export.carrier": Text("발송 경로", "Carrier"),
    "export.carrierCode": Text("발송 경로 코드", "Carrier's code"),
    "export.cost": Text("비용(원)", "Cost (won)"),
    "export.key": Text("API 키", "API key"),
    "wait.gone": Text(
        "설정에서 지운 발송 경로({carrier})에 남아 있습니다. 운영자가 다른 경로로 옮겨야 발송합니다.",
        "Waits: the carrier {carrier} is not configured any more. An operator has to move it to another one.",
    ),
    "wait.down": Text(
        "발송 경로 {carrier}에 {age}째 연결되지 않아 기다립니다. 다시 연결되면 자동으로 발송합니다.",
        "Waits: the carrier {carrier} has been down for {age}. It is sent when the carrier is up again.",
    ),
    "wait.aside": Text(
        "발송 경로 {carrier}의 오류로 {age}째 기다립니다. 경로가 복구되면 자동으로 발송합니다.",
        "Waits: the carrier {carrier} has been paused after errors for {age}. It is sent when the carrier works "
        "again.",
    ),
    "wait.short.gone": Text("없는 발송 경로 {carrier}", "{carrier} is not configured"),
    "wait.short.down": Text("{carrier} 연결 끊김", "{carrier} is down"),
    "wait.short.aside": Text("{carrier} 오류", "{carrier} is paused"),
    "wait.short.later": Text("{at} 발송", "at {at}"),
    "wait.short.queued": Text("차례 대기 {age}", "in the queue for {age}"),
    "wait.later": Text("{at}에 발송합니다.", "Will be sent at {at}."),
    "wait.queued": Text(
        "앞선 메시지가 많아 {age}째 차례를 기다립니다.", "Waits for its turn, for {age}: others are before it."
    ),
}
