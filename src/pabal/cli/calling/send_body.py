"""The options of `pabal send`, and the body of the request that they make."""

import argparse
import base64
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from pabal.cli.shared.language import CommandError
from pabal.cli.shared.options import CommandParser
from pabal.client import FriendtalkReceiverBody, ReceiverBody
from pabal.domain.base.codes import Text
from pabal.models import operations
from pabal.models.operations import Operation
from pabal.models.send_answers import AcceptedAnswer
from pabal.settings.environment import cannot_read

if TYPE_CHECKING:
    from pabal.client import Client

MAX_FILE_BYTES = 5 * 1024 * 1024
"""Largest image or JSON file, and longest text from standard input."""
STANDARD_INPUT = "-"


class SendKind(NamedTuple):
    """A kind of message: the operation that sends it, and the type of its receivers."""

    operation: Operation[AcceptedAnswer]
    receiver: type[ReceiverBody]

    def send(self, client: "Client", body: msgspec.Struct, **settings: Any) -> AcceptedAnswer:
        """Send a body of this kind."""
        answer: AcceptedAnswer = getattr(client, self.operation.id)(body, **settings)
        return answer


KINDS = {
    "sms": SendKind(operations.SEND_SMS, ReceiverBody),
    "lms": SendKind(operations.SEND_LMS, ReceiverBody),
    "mms": SendKind(operations.SEND_MMS, ReceiverBody),
    "alimtalk": SendKind(operations.SEND_ALIMTALK, ReceiverBody),
    "friendtalk": SendKind(operations.SEND_FRIENDTALK, FriendtalkReceiverBody),
    "brand": SendKind(operations.SEND_BRAND_MESSAGE, FriendtalkReceiverBody),
}


class SendOption(NamedTuple):
    """An option and the field of the body that it sets; `read` makes the field's value of what was given."""

    flag: str
    field: str
    help: Text
    metavar: str | None = "TEXT"
    kind: Callable[[str], Any] = str
    read: Callable[[Any], Any] = lambda value: value

    @property
    def name(self) -> str:
        """Its name among the arguments."""
        return self.flag.removeprefix("--").replace("-", "_")


def _read_text(given: str) -> str:
    if given != STANDARD_INPUT:
        return given
    text = sys.stdin.read(MAX_FILE_BYTES + 1)
    if len(text) > MAX_FILE_BYTES:
        raise CommandError(
            f"--content: 표준 입력이 {MAX_FILE_BYTES:,}자를 넘습니다",
            f"--content: standard input has more than {MAX_FILE_BYTES:,} characters",
        )
    return text.removesuffix("\n")


def _read_file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise CommandError(*cannot_read(path, error)) from None
    if len(content) > MAX_FILE_BYTES:
        raise CommandError(
            f"{path}: {MAX_FILE_BYTES:,}바이트를 넘습니다", f"{path}: more than {MAX_FILE_BYTES:,} bytes"
        )
    return content


def _read_images(paths: list[Path]) -> list[dict[str, str]]:
    return [
        {
            "contentType": "image/png" if path.suffix.lower() == ".png" else "image/jpeg",
            "fileName": path.name,
            "body": base64.b64encode(_read_file(path)).decode(),
        }
        for path in paths
    ]


def _read_json(path: Path) -> Any:
    try:
        return msgspec.json.decode(_read_file(path))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CommandError(f"{path}: JSON이 아닙니다: {error}", f"{path}: is not JSON: {error}") from None


OPTIONS = [
    SendOption(
        "--content",
        "content",
        Text(
            "내용. 변수는 #{name}, -는 표준 입력에서 읽습니다",
            "text, with variables #{name}; - reads standard input",
        ),
        read=_read_text,
    ),
    SendOption("--subject", "subject", Text("LMS나 MMS의 제목", "subject of an LMS or MMS")),
    SendOption(
        "--from", "sender", Text("SMS, LMS, MMS의 발신번호", "sender number of an SMS, LMS or MMS"), "NUMBER"
    ),
    SendOption("--sender-key", "senderKey", Text("발신 프로필의 키", "key of the sender profile"), "KEY"),
    SendOption("--template", "templateCode", Text("템플릿의 코드", "code of the template"), "CODE"),
    SendOption(
        "--at",
        "sendDate",
        Text("발송 시각, yyyy-MM-dd HH:mm(기본값: 지금)", "when to send it, yyyy-MM-dd HH:mm (default: now)"),
        "DATE",
    ),
    SendOption(
        "--expire-minutes",
        "expireMinutes",
        Text("이 시간(분) 안에 발송 경로에 넘깁니다", "by when a carrier must have it"),
        "N",
        int,
    ),
    SendOption(
        "--purpose",
        "purpose",
        Text("code: 일회용 인증번호. SMS, LMS, 알림톡", "code: a one-time code, by SMS, LMS or Alimtalk"),
        "code",
    ),
    SendOption("--ad", "adFlag", Text("광고입니다", "it is an advertisement"), None),
    SendOption(
        "--opt-out-number",
        "optOutNumber",
        Text("광고의 무료 수신거부 번호", "free number for opting out of an advertisement"),
        "NUMBER",
    ),
    SendOption(
        "--message-type",
        "messageType",
        Text("친구톡이나 브랜드 메시지의 유형", "type of a friend talk or brand message"),
        "TYPE",
    ),
    SendOption(
        "--targeting",
        "targeting",
        Text("브랜드 메시지의 대상: I, M, N", "whom a brand message is for: I, M or N"),
        "WHOM",
    ),
    SendOption(
        "--image",
        "image",
        Text("JPEG 파일. MMS에는 세 번까지 쓸 수 있습니다", "JPEG file; up to three times for an MMS"),
        "FILE",
        Path,
        _read_images,
    ),
    SendOption("--image-link", "imageLink", Text("이미지의 링크", "link of the image"), "URL"),
    SendOption(
        "--buttons",
        "buttons",
        Text("버튼 목록이 있는 JSON 파일", "JSON file with a list of buttons"),
        "FILE",
        Path,
        _read_json,
    ),
    SendOption(
        "--attachment",
        "attachment",
        Text("JSON 파일: 브랜드 메시지의 attachment", "JSON file: attachment of a brand message"),
        "FILE",
        Path,
        _read_json,
    ),
    SendOption(
        "--resend-from",
        "resendPhoneNumber",
        Text("실패하면 이 번호로 문자를 보냅니다", "send a text from this number if it fails"),
        "NUMBER",
    ),
    SendOption(
        "--resend-content",
        "resendContent",
        Text("그 문자의 내용(기본값: 메시지의 내용)", "that text (default: the text of the message)"),
    ),
]
FLAGS = {each.field: each.flag for each in OPTIONS} | {"images": "--image"}
"""The options that set fields of the body."""


def add_body_options(parser: CommandParser) -> None:
    """Add the options that make the body."""
    for option in OPTIONS:
        if option.metavar is None:
            parser.add_option(option.flag, *option.help, action="store_true", default=None)
        else:
            action = "append" if option.field == "image" else "store"
            parser.add_option(option.flag, *option.help, type=option.kind, metavar=option.metavar, action=action)


def build_body(given: argparse.Namespace, kind: str) -> msgspec.Struct:
    """Return the body that the options make, without receivers.

    Raises CommandError where an option is missing, is not for this kind, or cannot be read.
    """
    fields = {each.name: each.required for each in msgspec.structs.fields(KINDS[kind].operation.body)}
    values: dict[str, Any] = {"receivers": []}
    for option in OPTIONS:
        value = getattr(given, option.name)
        if value is None:
            continue
        if option.field not in fields:
            raise CommandError(f"{option.flag}: {kind}에는 쓰지 않습니다", f"{option.flag}: is not for {kind}")
        values[option.field] = option.read(value)
    images = values.pop("image", [])
    if len(images) == 1:
        values["image"] = images[0]
    elif images and "images" not in fields:
        raise CommandError(f"--image: {kind}에는 한 번만 씁니다", f"--image: only once for {kind}")
    elif images:
        values["images"] = images
    if "resendPhoneNumber" in values:
        values["resend"] = True
    elif "resendContent" in values:
        raise CommandError("--resend-content: --resend-from도 주세요", "--resend-content: give --resend-from too")
    missing = [each.flag for each in OPTIONS if each.field not in values and fields.get(each.field)]
    if missing:
        raise CommandError(
            f"{', '.join(missing)}: {kind}에 꼭 필요합니다", f"{', '.join(missing)}: required for {kind}"
        )
    try:
        return msgspec.convert(values, KINDS[kind].operation.body)
    except msgspec.ValidationError as error:
        raise CommandError(str(error), str(error)) from None


def with_receivers(body: msgspec.Struct, receivers: list[ReceiverBody]) -> msgspec.Struct:
    """Return the body with these receivers."""
    return msgspec.structs.replace(body, receivers=receivers)
