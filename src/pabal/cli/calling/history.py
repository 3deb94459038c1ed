"""`pabal history` and `pabal phone`: messages, what happened to one of them, and what a simulated phone gets."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from threading import Event
from typing import Any

from msgspec import UNSET

from pabal.cli.calling.call import Call, ExitStatus, add_call_options, parse_count
from pabal.cli.shared.options import CommandParser
from pabal.cli.shared.table import print_json, print_rows, printable
from pabal.client import GetMessage, ListMessages, ListPhoneMessages
from pabal.domain.base.codes import Text
from pabal.domain.base.dates import SECOND
from pabal.models.answers import LabelledValue, MessageItem
from pabal.models.bodies import MAX_PAGE_SIZE
from pabal.models.lookup import PhoneAnswer, PhoneItem
from pabal.world import RealWorld

WORLD = RealWorld()
LIMIT = 50
"""Messages that are listed unless --limit says otherwise."""
MESSAGE_COLUMNS = {
    "requestDate": Text("요청 시각", "Requested"),
    "messageProductType": Text("종류", "Kind"),
    "receiver": Text("수신번호", "Receiver"),
    "sendingStatus": Text("상태", "Status"),
    "resultCode": Text("결과", "Result"),
    "messageId": Text("메시지 ID", "Message ID"),
}
EVENT_COLUMNS = {
    "date": Text("시각", "Time"),
    "event": Text("일어난 일", "Event"),
    "carrier": Text("발송 경로", "Carrier"),
    "verdict": Text("판정", "Verdict"),
    "carrierCode": Text("발송 경로의 코드", "Carrier's code"),
    "resultCode": Text("결과", "Result"),
}
_FLAGS = {
    "receivers": "--to",
    "requestId": "--request",
    "messageId": "--message",
    "requestDate": "--date",
    "messageProductType": "--kind",
    "sendingStatus": "--status",
}
"""The options that set fields of the search."""
_MORE = Text(
    "더 있습니다. --limit을 늘리거나 조건을 좁히세요.", "There are more: raise --limit, or narrow the search."
)


def declare_history(parser: CommandParser) -> None:
    """Declare `pabal history`."""
    add_call_options(parser, _history, flags=_FLAGS)
    parser.add_option("--to NUMBER", "이 수신자의 메시지", "messages to this receiver")
    parser.add_option("--request ID", "이 요청의 메시지", "messages of this request")
    parser.add_option("--message ID", "이 메시지와 처리 이력", "this message, and what happened to it")
    parser.add_option(
        "--date PERIOD", "요청 시각: yyyy-MM-dd 또는 from~to", "when they were requested: yyyy-MM-dd, or from~to"
    )
    parser.add_option(
        "--kind",
        "sms, alimTalk, friendTalkText, brandMessage 등",
        "such as sms, alimTalk, friendTalkText or brandMessage",
    )
    parser.add_option(
        "--status", "waiting, sending, completed, fail, cancel", "waiting, sending, completed, fail or cancel"
    )
    parser.add_option(
        "--limit N", "최대 개수(기본값: 50)", "how many at most (default: 50)", type=parse_count, default=LIMIT
    )


def message_row(message: MessageItem) -> list[object]:
    """Return the fields of a message as people read them."""
    return [
        message.requestDate,
        message.messageProductType.label,
        message.receiver,
        message.sendingStatus.label,
        _label(message.resultCode),
        message.messageId,
    ]


def _label(value: Any) -> str:
    if value is UNSET:
        return ""
    return f"{value.value} {value.label}" if isinstance(value, LabelledValue) else str(value)


def _history(call: Call) -> int:
    given = call.given
    if given.message and not (given.to or given.request or given.date or given.kind or given.status):
        return _show_message(call, given.message)
    body = ListMessages(
        receivers=given.to,
        requestId=given.request,
        messageId=given.message,
        messageProductType=given.kind,
        sendingStatus=given.status,
        pageSize=min(MAX_PAGE_SIZE, given.limit + 1),
        requestDate=given.date or (None if given.to or given.request or given.message else since_yesterday()),
    )
    found = list(islice(call.client.iterate(call.client.list_messages, body), given.limit + 1))
    shown = found[: given.limit]
    if given.json:
        for each in shown:
            print_json(each)
    else:
        print_rows(MESSAGE_COLUMNS, map(message_row, shown), as_json=False)
    if len(found) > len(shown):
        call.report(_MORE)
    return ExitStatus.DONE


def _show_message(call: Call, message_id: str) -> int:
    item = call.client.look_up_message(GetMessage(messageId=message_id)).item
    if call.given.json:
        print_json(item)
        return ExitStatus.DONE
    print_rows(MESSAGE_COLUMNS, [message_row(item)], as_json=False)
    print_rows(
        EVENT_COLUMNS,
        [[_label(getattr(each, name)) for name in EVENT_COLUMNS] for each in item.events],
        as_json=False,
    )
    return ExitStatus.DONE


def since_yesterday() -> str:
    """Return a period that has the last day in it, whatever the time zone of the service."""
    now = datetime.fromtimestamp(WORLD.now() / SECOND, UTC)
    return f"{now - timedelta(days=1):%Y-%m-%d}~{now + timedelta(days=1):%Y-%m-%d}"


POLL_INTERVAL_S = 1.0
"""How often a phone is looked at."""
SHOWN = 10
"""Messages that are shown at first."""
PAGE_SIZE = 100
"""Messages that are looked at each time; more in one second are not shown."""
_WATCHING = Text("{number}을(를) 보고 있습니다. Ctrl-C로 끝냅니다.", "Watching {number}. Stop with Ctrl-C.")
_IMAGE = Text("[이미지]", "[image]")


def declare_phone(parser: CommandParser) -> None:
    """Declare `pabal phone`."""
    add_call_options(parser, _watch)
    parser.add_option("number NUMBER", "번호. 하이픈은 없어도 됩니다", "the number, with or without hyphens")
    parser.add_flag("--once", "있는 것만 출력하고 기다리지 않습니다", "print what it has, and do not wait")


def _watch(call: Call) -> int:
    body = ListPhoneMessages(phoneNumber=call.given.number, pageSize=PAGE_SIZE)
    before = call.client.look_at_phone(body)
    _show(call, before.items[:SHOWN])
    if call.given.once:
        return ExitStatus.DONE
    call.report(_WATCHING, number=call.given.number)
    while True:
        Event().wait(POLL_INTERVAL_S)
        now = call.client.look_at_phone(body)
        _show(call, now.items[: count_new(before, now)])
        before = now


def count_new(before: PhoneAnswer, now: PhoneAnswer) -> int:
    """Return how many messages at the beginning of a page have arrived since another; they have no ids."""
    for new in range(max(0, now.totalCount - before.totalCount), len(now.items)):
        rest = now.items[new:]
        if rest[: len(before.items)] == before.items[: len(rest)]:
            return new
    return len(now.items)


def _show(call: Call, newest_first: Sequence[PhoneItem]) -> None:
    for each in reversed(newest_first):
        if call.given.json:
            print_json(each)
        else:
            print("\n".join(_lines(call, each)), flush=True)


def _lines(call: Call, message: PhoneItem) -> list[str]:
    image = f"  {call.t(_IMAGE)}" * (message.images or int(message.image))
    head = f"{message.time}  {message.kind}  {message.sender}{image}"
    text = [*([] if message.subject is UNSET else [message.subject]), *message.content.split("\n")]
    buttons = [f"[{each.name}] {'' if each.mobileUrl is UNSET else each.mobileUrl}" for each in message.buttons]
    return [head, *(f"  {printable(line)}".rstrip() for line in [*text, *buttons])]
