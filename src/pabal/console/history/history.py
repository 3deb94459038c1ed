"""The pages of the message history and of one message."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from urllib.parse import urlencode

from starlette.responses import Response

from pabal.console.history import filters
from pabal.console.history.codes import advise
from pabal.console.history.filters import HistorySearch, list_offered
from pabal.console.send.brand_parts import preview_attachment
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base import identifiers
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.base.dates import SECOND
from pabal.domain.people import phone
from pabal.domain.sends.message import Outcome, Product, Status
from pabal.domain.sends.price import format_won
from pabal.service.history import timeline
from pabal.service.history.history import build_each, build_one
from pabal.service.history.timeline import (
    ACCEPTED_LABEL,
    NEWEST,
    Message,
    MessageEvent,
    MessageEventKind,
    Request,
    SearchPage,
    Timeline,
    current_carrier,
    list_events,
)
from pabal.service.sending import compose

PAGE_SIZE = 50
HISTORY_PATH = "/console/history"
OFFERED_PERIODS = ("today", "yesterday", "week", "month", "last_month")
"""Periods that one click chooses; more than a month is slow to read."""
SENDABLE_PRODUCTS = [each for each in Product if each not in (Product.EMAIL, Product.PUSH)]


class MessageRow(NamedTuple):
    """A message in the list."""

    id: str
    time: str
    kind: str
    receiver: str
    status: Status
    state: str
    reason: str
    text: str
    is_code: bool
    is_fallback: bool
    is_unreadable: bool = False


class UnreadableRow(NamedTuple):
    """A message in the list that is stored, but cannot be read."""

    id: str
    time: str
    is_unreadable: bool = True


class TimelineEntry(NamedTuple):
    """An event of a message, past or expected."""

    time: str
    description: str
    is_failure: bool = False


async def show_history(request: PageRequest) -> Response:
    """Show a page of the messages that the search finds."""
    search = filters.read_search(
        request.fields, request.account_id, request.locale, may_see_numbers=request.may_see_numbers
    )
    result = SearchPage([], None)
    if search.message_filter:
        result = await timeline.search_messages(
            request.context, search.message_filter, search.before or NEWEST, PAGE_SIZE
        )
    return request.render(
        "history/history.html",
        400 if search.problems else 200,
        search=search,
        offered=_offered_periods(request, search),
        errors=[(each.field, each.message(request.locale.language)) for each in search.problems],
        rows=build_each(
            result.found,
            result.unreadable,
            lambda message, send_request: _row(request, message, send_request),
            lambda message_id: UnreadableRow(message_id.hex(), request.time(identifiers.requested_at(message_id))),
        ),
        older=_history_url(search, result.next_before) if result.next_before else "",
        newest=_history_url(search) if search.before else "",
        looked_until=_searched_until(request, result),
        export=_history_url(search, path=f"{HISTORY_PATH}.csv"),
        workbook=_history_url(search, path=f"{HISTORY_PATH}.xlsx"),
        products=SENDABLE_PRODUCTS,
        statuses=list(Status),
        reasons=filters.OUTCOME_BY_CODE,
    )


async def show_message(request: PageRequest) -> Response:
    """Show one message with its timeline.

    Raises Refused(NOT_FOUND), also for another account's, and RecordDamaged.
    """
    message_id = identifiers.parse_message_id(str(request.http.path_params["message"]))
    details = await timeline.get_timeline(request.context, request.account_id, message_id) if message_id else None
    if details is None:
        raise Refused(Code.NOT_FOUND)
    shown = build_one(details.message.id, lambda: _shown_values(request, details))
    return request.render("history/message.html", **shown)


def _shown_values(request: PageRequest, details: Timeline) -> dict[str, object]:
    """Return what the page of a message shows."""
    message, send_request, delivery = details.message, details.request, details.delivery
    other = details.origin or details.fallback
    is_fallback = compose.is_fallback(message, send_request)
    brand = None if is_fallback else send_request.brand
    row = _row(request, message, send_request)
    subject = compose.subject_of(message, send_request) or ""
    return {
        "row": row,
        "send_request": send_request,
        "request_id": send_request.id.hex(),
        "sender": _sender(message, send_request),
        "subject": request.shown_text(subject, send_request, has_ended=message.completed_at is not None),
        "content": row.text,
        "buttons": [button.name for button in compose.buttons_of(message, send_request)],
        "images": 0 if is_fallback else send_request.images,
        "brand": brand,
        "parts": preview_attachment(brand.attachment) if brand else (),
        "reference": message.reference,
        "cost": "" if delivery.cost is None else request.t("word.won", won=format_won(delivery.cost)),
        "carrier": current_carrier(details) or "",
        "carrier_code": delivery.carrier_code or "",
        "key": details.key.name if details.key else "",
        "expires": _deadline(request, message, send_request),
        "advice": " ".join(request.translate(each) for each in advise(message, details.fallback)),
        "moments": _timeline_entries(request, details),
        "origin": details.origin.id.hex() if details.origin else "",
        "fallback": details.fallback.id.hex() if details.fallback else "",
        "other": request.translate(other.status.label) if other else "",
    }


def _row(request: PageRequest, message: Message, send_request: Request) -> MessageRow:
    return MessageRow(
        id=message.id.hex(),
        time=request.time(identifiers.requested_at(send_request.id)),
        kind=request.translate(message.product.label),
        receiver=request.phone_number(message.receiver),
        status=message.status,
        state=request.translate(message.status.label),
        reason=request.translate(message.outcome.label) if message.outcome else "",
        text=request.shown_text(
            compose.content_of(message, send_request), send_request, has_ended=message.completed_at is not None
        ),
        is_code=send_request.is_code,
        is_fallback=compose.is_fallback(message, send_request),
    )


def _deadline(request: PageRequest, message: Message, send_request: Request) -> str:
    """Return until when a message that has not ended, or has expired, must be with a carrier; else empty."""
    if message.status not in (Status.WAITING, Status.SENDING) and message.outcome is not Outcome.EXPIRED:
        return ""
    return request.time(request.context.policy.deadline_of(send_request))


def _sender(message: Message, send_request: Request) -> str:
    """Return the sender that the receiver sees."""
    if compose.is_fallback(message, send_request):
        return phone.hyphenate(send_request.fallback_sender) if send_request.fallback_sender else ""
    return send_request.channel_id or (phone.hyphenate(send_request.sender) if send_request.sender else "")


def _history_url(search: HistorySearch, before: bytes | None = None, path: str = HISTORY_PATH) -> str:
    fields = {name: value for name, value in search.typed.items() if value}
    if before:
        fields["before"] = before.hex()
    return f"{path}?{urlencode(fields)}" if fields else path


def _offered_periods(request: PageRequest, search: HistorySearch) -> list[tuple[str, str, bool]]:
    """Return name, URL and whether it is chosen of each period that one click adds to the search."""
    today = datetime.fromtimestamp(request.now / SECOND, request.locale.zone).date()
    offered = []
    for each in list_offered(today):
        if each.word in OFFERED_PERIODS:
            days = {"requested_from": each.first.isoformat(), "requested_to": each.last.isoformat()}
            url = _history_url(search._replace(typed={**search.typed, **days}))
            is_chosen = all(search.typed[name] == day for name, day in days.items())
            offered.append((request.t(f"statistics.offered.{each.word}"), url, is_chosen))
    return offered


def _searched_until(request: PageRequest, result: SearchPage) -> str:
    """Return how far an unfinished search with less than a page of results has looked; else empty."""
    if result.next_before is None or len(result.found) >= PAGE_SIZE:
        return ""
    return request.time(identifiers.requested_at(result.next_before))


def _timeline_entries(request: PageRequest, timeline: Timeline) -> Sequence[TimelineEntry]:
    """Return what happened to a message, in order, and last what it waits for, if anything."""
    entries = [_describe_event(request, timeline, each) for each in list_events(timeline)]
    if queue_entry := timeline.queue_entry:
        waiting = request.t(_waiting_key(timeline), carrier=queue_entry.carrier)
        entries.append(TimelineEntry(request.time(queue_entry.ready_at), waiting, False))
    return entries


def _describe_event(request: PageRequest, timeline: Timeline, event: MessageEvent) -> TimelineEntry:
    message = timeline.message
    key, is_failure = f"timeline.{event.kind.value}", False
    if event.kind is MessageEventKind.VERDICT:
        key, is_failure = f"timeline.verdict.{event.verdict}", event.verdict != ACCEPTED_LABEL
    elif event.kind is MessageEventKind.ENDED:
        key, is_failure = f"timeline.{message.status.code}", message.status is Status.FAIL
    elif event.kind is MessageEventKind.FALLBACK and timeline.fallback:
        key = "timeline.fallback_made"
    reason = request.translate(message.outcome.label) if message.outcome else ""
    description = request.t(key, carrier=event.carrier, number=event.attempt, reason=reason)
    if event.code:
        description += " " + request.t("timeline.code", code=event.code)
    time = request.time(event.at)
    return TimelineEntry(time, description, is_failure)


def _waiting_key(timeline: Timeline) -> str:
    """Return the text key of what a message in the queue waits for."""
    if timeline.awaits_receipt:
        return "timeline.awaiting_receipt"
    is_in_flight = timeline.queue_entry is not None and timeline.queue_entry.claimed_at is not None
    return "timeline.in_flight" if is_in_flight else "timeline.queued"


TEXTS = {
    "menu.history": Text("발송 내역", "History"),
    "menu.codes": Text("결과 코드", "Result codes"),
    "codes.outcomes": Text("메시지의 결과", "Outcomes of messages"),
    "codes.results": Text("API 호출의 결과", "Results of API calls"),
    "codes.code": Text("코드", "Code"),
    "codes.meaning": Text("뜻", "Meaning"),
    "codes.remedy": Text("해야 할 일", "What to do"),
    "history.clear": Text("조건 초기화", "Clear filters"),
    "history.filters": Text("검색 조건", "Filters"),
    "history.further": Text("검색 조건 더 보기", "More filters"),
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
    "message.title": Text("메시지 상세", "Message details"),
    "message.back": Text("발송 내역으로", "Back to history"),
    "message.what_to_do": Text("조치 방법", "What to do"),
    "message.timeline": Text("처리 이력", "Timeline"),
    "message.facts": Text("기본 정보", "Details"),
    "message.sender": Text("발신번호·채널", "Sender"),
    "message.key": Text("API 키", "API key"),
    "message.expires": Text("발송 기한", "Deadline"),
    "message.image": Text("이미지 포함", "Image attached"),
    "message.buttons": Text("버튼", "Buttons"),
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
}
