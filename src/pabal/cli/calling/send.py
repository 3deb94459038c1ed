"""`pabal send`: one text to the receivers that are given, or to the rows of a CSV file."""

import argparse
from collections.abc import Iterable
from pathlib import Path
from threading import Event

from msgspec import UNSET

from pabal.cli.calling.call import Call, ExitStatus, add_call_options, list_warnings, parse_count, report_line
from pabal.cli.calling.history import MESSAGE_COLUMNS, message_row
from pabal.cli.calling.send_body import FLAGS, KINDS, add_body_options, build_body, with_receivers
from pabal.cli.shared.language import CommandError, choose
from pabal.cli.shared.options import CommandParser
from pabal.cli.shared.table import print_json, print_rows
from pabal.client import GetRequest, ReceiverBody
from pabal.domain.base.codes import Text
from pabal.models.answers import MessageItem
from pabal.models.send_answers import AcceptedAnswer
from pabal.world import RealWorld

WORLD = RealWorld()
POLL_INTERVAL_S = 0.5
"""How often --wait asks whether all has ended."""
WAIT_SECONDS = 60
"""How long --wait waits unless --timeout says otherwise."""
DEFAULT_KIND = "sms"
CHUNK = 1000
"""Rows of a CSV file in one request."""
DRY_RUN_COLUMNS = {
    "phoneNumber": Text("수신번호", "Receiver"),
    "product": Text("종류", "Kind"),
    "size": Text("길이", "Size"),
    "carrier": Text("발송 경로", "Carrier"),
    "scheduledDate": Text("발송 시각", "Scheduled"),
    "cost": Text("비용", "Cost"),
    "content": Text("내용", "Text"),
}
_STILL_WAITING = Text("아직 끝나지 않은 메시지가 있습니다: {count}건", "{count} messages have not ended yet")
_NOTHING_SENT = Text("확인만 했습니다. 아무것도 발송하지 않았습니다.", "This was a dry run: nothing was sent.")


def declare_send(parser: CommandParser) -> None:
    """Declare `pabal send`."""
    add_call_options(parser, _send, flags=FLAGS)
    parser.add_option(
        "kind",
        "보낼 종류(--csv의 기본값: sms)",
        "what to send (default with --csv: sms)",
        nargs="?",
        choices=list(KINDS),
    )
    parser.add_option("--to NUMBER", "수신자", "receivers", nargs="+", action="extend")
    parser.add_option(
        "--var NAME=VALUE",
        "변수 #{NAME}의 값",
        "value of a variable #{NAME}",
        action="append",
        type=_parse_variable,
    )
    parser.add_option("--reference TEXT", "메시지에 붙일 참조 ID", "your own id for the messages")
    add_body_options(parser)
    parser.add_flag("--dry-run", "확인만 하고 보내지 않습니다", "check it, and send nothing")
    parser.add_option("--idempotency-key KEY", "같은 키로는 한 번만 보냅니다", "with the same key it is sent once")
    parser.add_flag("--wait", "메시지가 끝날 때까지 기다립니다", "wait until the messages have ended")
    parser.add_option(
        "--timeout SECONDS",
        "기다릴 시간(초, 기본값: 60)",
        "how long to wait (default: 60)",
        type=parse_count,
        default=WAIT_SECONDS,
    )
    _add_csv_options(parser)


def _add_csv_options(parser: CommandParser) -> None:
    parser.add_option(
        "--csv FILE",
        "각 행에 보냅니다. 첫 행은 열 이름입니다",
        "send to its rows; its first row names the columns",
        type=Path,
    )
    parser.add_option(
        "--chunk N",
        "--csv와 함께: 요청 하나의 행 수(기본값: 1000)",
        "with --csv: rows a request (default: 1000)",
        type=parse_count,
        default=CHUNK,
    )
    parser.add_flag(
        "--strict",
        "--csv와 함께: 잘못된 행이 있으면 아무것도 보내지 않습니다",
        "with --csv: send nothing if a row is wrong",
    )
    parser.add_flag(
        "--again", "--csv와 함께: 보냈던 파일을 다시 보냅니다", "with --csv: send a file that was sent before"
    )
    parser.add_option(
        "--in-doubt",
        "--csv와 함께: 오래전에 발송되었을 수 있는 행의 처리",
        "with --csv: what to do with rows that may have been sent long ago",
        choices=("send", "skip"),
    )


def _split_numbers(given: Iterable[str]) -> list[str]:
    """Return the numbers of `--to A B` and `--to A,B`."""
    return [number.strip() for each in given for number in each.split(",") if number.strip()]


def _parse_variable(given: str) -> tuple[str, str]:
    name, sign, value = given.partition("=")
    if not (name and sign):
        raise argparse.ArgumentTypeError(choose("NAME=VALUE 형식으로 적으세요", "write NAME=VALUE"))
    return name, value


def _send(call: Call) -> int:
    given = call.given
    if given.csv:
        if given.to or given.var or given.reference or given.idempotency_key or given.wait:
            raise CommandError(
                "--csv는 --to, --var, --reference, --idempotency-key, --wait와 함께 쓸 수 없습니다",
                "--csv: without --to, --var, --reference, --idempotency-key and --wait",
            )
        from pabal.cli.calling.send_csv import send_csv  # reads files, which costs other sends 0.1 s

        name = given.kind or DEFAULT_KIND
        return send_csv(call, name, build_body(given, name))
    if given.strict or given.again or given.in_doubt:
        raise CommandError(
            "--strict, --again, --in-doubt는 --csv와 함께만 씁니다",
            "--strict, --again and --in-doubt: only with --csv",
        )
    if not given.kind:
        raise CommandError(f"무엇을 보낼지 적으세요: {', '.join(KINDS)}", f"say what to send: {', '.join(KINDS)}")
    if not given.to:
        raise CommandError(
            "--to: --csv로 파일을 주지 않으면 꼭 필요합니다", "--to: required, unless --csv names a file"
        )
    kind = KINDS[given.kind]
    data = dict(given.var) if given.var else None
    receivers: list[ReceiverBody] = [
        kind.receiver(phoneNumber=each, templateData=data, reference=given.reference)
        for each in _split_numbers(given.to)
    ]
    body = with_receivers(build_body(given, given.kind), receivers)
    answer = kind.send(call.client, body, idempotency_key=given.idempotency_key, dry_run=given.dry_run)
    return _report(call, answer)


def _report(call: Call, answer: AcceptedAnswer) -> int:
    for warning in list_warnings(answer):
        report_line(f"{warning.field}: {warning.message}")
    if call.given.dry_run:
        receivers = [] if answer.item.receivers is UNSET else answer.item.receivers
        rows = [[getattr(each, name) or "" for name in DRY_RUN_COLUMNS] for each in receivers]
        print_rows(DRY_RUN_COLUMNS, rows, as_json=call.given.json)
        call.report(_NOTHING_SENT)
        return ExitStatus.DONE
    if not call.given.wait:
        if call.given.json:
            print_json({"requestId": answer.request_id})
        else:
            print(answer.request_id)
        return ExitStatus.DONE
    return _wait(call, answer.request_id)


def _wait(call: Call, request_id: str) -> int:
    """Wait until a request has ended, print its messages, and return the exit status."""
    ends_at = WORLD.monotonic() + call.given.timeout
    while True:
        counts = call.client.look_up_request(GetRequest(requestId=request_id)).item.counts
        unfinished = counts.waiting + counts.sending
        if not unfinished or WORLD.monotonic() >= ends_at:
            break
        Event().wait(POLL_INTERVAL_S)
    messages = list(call.client.iterate(call.client.look_up_request, GetRequest(requestId=request_id)))
    if call.given.json:
        for each in messages:
            print_json(each)
    else:
        print_rows(MESSAGE_COLUMNS, map(message_row, messages), as_json=False)
    if unfinished:
        call.report(_STILL_WAITING, count=unfinished)
        return ExitStatus.INCOMPLETE
    return ExitStatus.DONE if _all_reached(messages) else ExitStatus.NOT_DELIVERED


def _all_reached(messages: list[MessageItem]) -> bool:
    """Return whether every receiver got the message or its fallback."""
    reached = {each.messageId for each in messages if each.sendingStatus.value == "completed"}
    for each in messages:
        if each.messageId in reached and isinstance(each.originMessageId, str):
            reached.add(each.originMessageId)
    return all(each.messageId in reached or each.originMessageId is not UNSET for each in messages)
