"""`pabal history`: messages by receiver, request or date, and what happened to one of them."""

import argparse
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

from msgspec import UNSET

from pabal.cli.calling.call import Call, ExitStatus, add_call_options, parse_count
from pabal.cli.shared.options import add_option
from pabal.cli.shared.table import print_json, print_rows
from pabal.client import GetMessage, ListMessages
from pabal.domain.base.codes import Text
from pabal.domain.base.dates import SECOND
from pabal.models.answers import LabelledValue, MessageItem
from pabal.models.bodies import MAX_PAGE_SIZE
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


def declare_history(parser: argparse.ArgumentParser) -> None:
    """Declare `pabal history`."""
    add_call_options(parser, _history, flags=_FLAGS)
    add_option(parser, "--to", "이 수신자의 메시지", "messages to this receiver", metavar="NUMBER")
    add_option(parser, "--request", "이 요청의 메시지", "messages of this request", metavar="ID")
    add_option(parser, "--message", "이 메시지와 처리 이력", "this message, and what happened to it", metavar="ID")
    add_option(
        parser,
        "--date",
        "요청 시각: yyyy-MM-dd 또는 from~to",
        "when they were requested: yyyy-MM-dd, or from~to",
        metavar="PERIOD",
    )
    add_option(
        parser,
        "--kind",
        "sms, alimTalk, friendTalkText, brandMessage 등",
        "such as sms, alimTalk, friendTalkText or brandMessage",
    )
    add_option(
        parser,
        "--status",
        "waiting, sending, completed, fail, cancel",
        "waiting, sending, completed, fail or cancel",
    )
    add_option(
        parser,
        "--limit",
        "최대 개수(기본값: 50)",
        "how many at most (default: 50)",
        type=parse_count,
        default=LIMIT,
        metavar="N",
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
