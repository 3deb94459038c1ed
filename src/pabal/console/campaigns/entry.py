"""A campaign or a request as pages show it: what it is, how far it has come, and its result in a few words."""

from collections.abc import Sequence
from typing import NamedTuple

from pabal.console.campaigns.campaign_message import REQUESTS_PATH
from pabal.console.history.history_texts import describe_wait
from pabal.console.overview.figures import BarPart, build_bar, format_percent
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base import identifiers
from pabal.domain.base.codes import Text
from pabal.domain.sends.campaign import CampaignState
from pabal.domain.sends.message import Status
from pabal.service.history.history import Wait, find_waits
from pabal.service.sending.campaigns.progress import SentItem

_CLASS_BY_STATE = {
    CampaignState.HALTED: "fail",
    CampaignState.CANCELLED: "cancel",
    CampaignState.CANCELLING: "cancel",
    CampaignState.DISCARDED: "cancel",
    CampaignState.MAKING: "sending",
}


class ReceiverCounts(NamedTuple):
    """Receivers by what became of them; each is counted once. Their texts are `follow.count.<word>`."""

    completed: int
    fallback: int
    """Reached by a fallback."""
    fail: int
    """Neither the message nor a fallback arrived."""
    cancel: int
    sending: int
    """The message or its fallback is on its way."""
    waiting: int

    @property
    def reached(self) -> int:
        return self.completed + self.fallback

    @property
    def ended(self) -> int:
        """Those who were reached or were not; a rate is of these."""
        return self.reached + self.fail

    @property
    def total(self) -> int:
        return sum(self)


class RequestEntry(NamedTuple):
    """A campaign or a request as pages show it."""

    id: str
    path: str
    time: str
    short_time: str
    kind: str
    name: str
    state: str
    state_class: str
    scheduled: str
    total: int
    counts: list[tuple[str, int]]
    unmade: int
    unsent: int
    meter: list[BarPart]
    is_campaign: bool
    is_code: bool
    is_moving: bool
    has_ended: bool
    has_waiting: bool
    is_for_later: bool
    why: str
    """Why it waits; empty: it does not, or only for its time."""


async def build_entries(request: PageRequest, items: Sequence[SentItem]) -> list[RequestEntry]:
    """Return campaigns and requests as pages show them, with why those that wait do."""
    waiting = [each.id for each in items if each.progress.waiting and not each.is_scheduled(request.now)]
    waits = await find_waits(request.context, waiting)
    return [_build_entry(request, each, waits.get(each.id)) for each in items]


async def build_entry(request: PageRequest, sent: SentItem) -> RequestEntry:
    """Return a campaign or a request as pages show it, with why it waits if it does."""
    (entry,) = await build_entries(request, [sent])
    return entry


def _build_entry(request: PageRequest, sent: SentItem, wait: Wait | None) -> RequestEntry:
    campaign, send_request, now = sent.campaign, sent.request, request.now
    counts = count_receivers(sent)
    state, word = describe_state(request, sent, counts)
    scheduled_at, requested_at = sent.scheduled_at, identifiers.requested_at(sent.id)
    is_scheduled = scheduled_at is not None and scheduled_at > requested_at
    name = campaign.name if campaign else ""
    if send_request and not campaign:
        text = send_request.subject or send_request.content[:60]
        name = request.shown_text(text, send_request, has_ended=sent.has_ended)
    return RequestEntry(
        id=sent.id.hex(),
        path=f"{REQUESTS_PATH}/{sent.id.hex()}",
        time=request.time(requested_at),
        short_time=request.short_minute(requested_at),
        kind=request.translate(sent.product.label),
        name=name,
        state=state,
        state_class=word,
        scheduled=request.minute(scheduled_at) if is_scheduled else "",
        total=sent.total,
        counts=[(word, count) for word, count in counts._asdict().items() if count],
        unmade=sent.not_yet_accepted,
        unsent=sent.never_accepted,
        meter=_draw_meter(counts, max(sent.total, counts.total), is_for_later=sent.is_scheduled(now)),
        is_campaign=campaign is not None,
        is_code=send_request is not None and send_request.is_code,
        is_moving=sent.is_in_progress(now),
        has_ended=sent.has_ended,
        has_waiting=sent.has_waiting,
        is_for_later=sent.is_scheduled(now),
        why=describe_wait(request, wait),
    )


def count_receivers(sent: SentItem) -> ReceiverCounts:
    """Return the receivers of what was sent by what became of them."""
    progress = sent.progress
    open_fallbacks = 0 if sent.has_ended else progress.open_fallbacks
    return ReceiverCounts(
        completed=progress.completed,
        fallback=progress.fallbacks_completed,
        fail=max(0, progress.fail - progress.fallbacks_completed - open_fallbacks),
        cancel=progress.cancel,
        sending=progress.sending + open_fallbacks,
        waiting=progress.waiting,
    )


def describe_state(request: PageRequest, sent: SentItem, counts: ReceiverCounts) -> tuple[str, str]:
    """Return the state, or the result, in a few words, and the CSS class that colours it.

    A result is bad from the failure rate on that accounts are told of by mail.
    """
    campaign = sent.campaign
    if campaign and campaign.state is not CampaignState.MADE:
        return request.translate(campaign.state.label), _CLASS_BY_STATE.get(campaign.state, "waiting")
    if sent.is_scheduled(request.now):
        return request.t("follow.scheduled_for", time=request.short_minute(sent.scheduled_at)), "scheduled"
    if not sent.has_ended:
        done = 100 * (counts.ended + counts.cancel) // sent.total if sent.total else 0
        return request.t("follow.sending", percent=done), "sending"
    if not counts.ended:
        return request.translate(Status.CANCEL.label), "cancel"
    if counts.fail * 100 >= counts.ended * request.context.policy.notices.failure_percent:
        return request.t("follow.failed", failed=counts.fail, ended=counts.ended), "fail"
    return request.t("follow.reached", share=format_percent(counts.reached, counts.ended)), "completed"


def _draw_meter(counts: ReceiverCounts, total: int, *, is_for_later: bool) -> list[BarPart]:
    """Return the parts of a meter, those of final statuses first; what waits for its time is no part yet."""
    amounts = counts._asdict() | ({"waiting": 0} if is_for_later else {})
    return build_bar(list(amounts.items()), max(total, 1))


TEXTS = {
    "menu.requests": Text("발송 현황", "Progress"),
    "follow.about": Text(
        "캠페인과 발송 요청을 최신순으로 표시합니다. 진행 중인 항목은 2초마다 새로 고칩니다.",
        "Campaigns and requests, newest first. Those in progress are refreshed every 2 seconds.",
    ),
    "follow.none": Text("아직 발송한 메시지가 없습니다.", "No messages have been sent yet."),
    "follow.unreadable": Text(
        "저장된 기록이 손상되어 읽을 수 없는 요청이 있습니다. 운영자에게 요청 ID {id}를 알려 주세요.",
        "The stored record of a request is damaged and cannot be read. Tell the operator its ID {id}.",
    ),
    "follow.none_found": Text("조건에 맞는 발송이 없습니다.", "Nothing that was sent matches the filters."),
    "follow.views": Text("발송 현황 보기", "Views of what was sent"),
    "follow.view.sent": Text("보낸 발송", "Sent"),
    "menu.approvals": Text("승인 대기", "To be approved"),
    "follow.approvals.about": Text(
        "다른 사용자의 승인을 기다리는 발송입니다. 내용을 확인하고 승인하거나 반려하세요.",
        "Sends that wait for the approval of a second user. Look at them, then approve them or send them back.",
    ),
    "follow.approvals.none": Text("승인을 기다리는 발송이 없습니다.", "Nothing waits for approval."),
    "follow.approvals.look": Text("확인하기", "Look at it"),
    "follow.view.unsent": Text("보내지 않은 발송", "Not sent yet"),
    "follow.unsent.about": Text(
        "작성하다가 보내지 않은 파일·그룹 발송입니다. 이어서 보내거나 삭제하세요. 오래되면 자동으로 삭제합니다.",
        "Sends to files and groups that were begun and not sent. Go on with them or discard them; old ones are "
        "deleted by themselves.",
    ),
    "follow.unsent.none": Text(
        "작성하다가 보내지 않은 발송이 없습니다.", "There is nothing that was begun and not sent."
    ),
    "follow.unsent.go_on": Text("이어서 보내기", "Go on"),
    "follow.filter": Text("검색·필터", "Search and filter"),
    "follow.filter.words": Text("캠페인 이름·제목·내용", "Campaign name, subject or text"),
    "follow.filter.what": Text("구분", "What"),
    "follow.filter.request": Text("발송 요청", "Request"),
    "follow.creator": Text("작성자", "Created by"),
    "follow.rest": Text("발송하지 못한 행 고쳐서 보내기", "Correct and send the rows that could not be sent"),
    "follow.rename.do": Text("이름 저장", "Save the name"),
    "follow.what": Text("발송", "Message"),
    "follow.progress": Text("진행", "Progress"),
    "follow.campaign": Text("캠페인", "Campaign"),
    "follow.scheduled": Text("예약 시각", "Scheduled for"),
    "follow.scheduled_for": Text("{time} 예약", "For {time}"),
    "follow.sending": Text("발송 중 {percent}%", "Sending, {percent} %"),
    "follow.reached": Text("도달 {share}%", "Reached {share} %"),
    "follow.failed": Text("실패 {failed:,} / {ended:,}", "Failed {failed:,} / {ended:,}"),
    "follow.count.completed": Text("완료", "Delivered"),
    "follow.count.fallback": Text("대체 문자로 도달", "Reached by fallback"),
    "follow.count.fail": Text("실패", "Failed"),
    "follow.count.cancel": Text("취소", "Cancelled"),
    "follow.count.sending": Text("발송 중", "Sending"),
    "follow.count.waiting": Text("대기", "Waiting"),
    "follow.total": Text("전체 {count:,}", "{count:,} in total"),
    "follow.unmade": Text("접수 전", "Not accepted yet"),
    "follow.unsent": Text("미발송", "Not sent"),
    "follow.news": Text("발송이 끝났습니다: {names}", "Finished: {names}"),
    "follow.back": Text("발송 현황으로", "Back to progress"),
    "follow.facts": Text("기본 정보", "Details"),
    "follow.history": Text("메시지별 발송 결과 보기", "View the result of each message"),
    "follow.part_of": Text("이 요청은 캠페인의 일부입니다", "This request is part of a campaign"),
    "follow.parts": Text("이 캠페인의 요청", "Requests of this campaign"),
    "follow.part": Text("{number}번째 ({count:,}명)", "Request {number} ({count:,})"),
    "follow.parts.more": Text("외 {count}개", "and {count} more"),
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
    "follow.cancelled": Text(
        "발송을 취소했습니다. 취소는 되돌릴 수 없지만, 같은 내용으로 새로 보낼 수 있습니다.",
        "Cancelled. It cannot be brought back, but the same can be sent anew.",
    ),
    "follow.cancel": Text("발송 취소", "Cancel sending"),
    "follow.cancel.ask": Text(
        "아직 발송하지 않은 메시지를 모두 취소하시겠습니까? 되돌릴 수 없습니다.",
        "Cancel all messages that are still waiting? This cannot be undone.",
    ),
    "follow.cancel.yes": Text("예, 취소합니다", "Yes, cancel"),
    "follow.id": Text("요청 ID", "Request ID"),
}
