"""Why something waits, in words."""

from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Text
from pabal.domain.base.dates import SECOND
from pabal.service.history.waiting import Wait


def describe_wait(request: PageRequest, wait: Wait | None, *, is_short: bool = False) -> str:
    """Return why something waits, and what happens next unless that is to be short; empty without a reason."""
    if wait is None:
        return ""
    age = request.age(max(0, request.now - wait.at) // SECOND)
    word = f"short.{wait.reason.value}" if is_short else wait.reason.value
    return request.t(f"wait.{word}", carrier=wait.carrier, age=age, at=request.short_minute(wait.at))


TEXTS = {
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
