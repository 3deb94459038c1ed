"""The options of `pabal send`, and the body of the request that they make."""

import argparse
import base64
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from pabal.cli.shared.errors import CommandError
from pabal.client import (
    Client,
    FriendtalkReceiverBody,
    ReceiverBody,
    SendAlimtalk,
    SendBrandMessage,
    SendFriendtalk,
    SendLms,
    SendMms,
    SendSms,
)
from pabal.models.send_answers import AcceptedAnswer

MAX_FILE_BYTES = 1024 * 1024
"""Largest image or JSON file, and longest text from standard input."""
STANDARD_INPUT = "-"


class SendKind(NamedTuple):
    """A kind of message: the types of its request and receivers, and the method of the client that sends it."""

    body: type[msgspec.Struct]
    receiver: type[ReceiverBody]
    send: Callable[..., AcceptedAnswer]


KINDS = {
    "sms": SendKind(SendSms, ReceiverBody, Client.send_sms),
    "lms": SendKind(SendLms, ReceiverBody, Client.send_lms),
    "mms": SendKind(SendMms, ReceiverBody, Client.send_mms),
    "alimtalk": SendKind(SendAlimtalk, ReceiverBody, Client.send_alimtalk),
    "friendtalk": SendKind(SendFriendtalk, FriendtalkReceiverBody, Client.send_friendtalk),
    "brand": SendKind(SendBrandMessage, FriendtalkReceiverBody, Client.send_brand_message),
}


class SendOption(NamedTuple):
    """An option and the field of the body that it sets; `read` makes the field's value of what was given."""

    flag: str
    field: str
    help: str
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
        raise CommandError(f"--content: standard input has more than {MAX_FILE_BYTES:,} characters")
    return text.removesuffix("\n")


def _read_file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise CommandError(f"{path}: cannot be read ({error.strerror})") from None
    if len(content) > MAX_FILE_BYTES:
        raise CommandError(f"{path}: more than {MAX_FILE_BYTES:,} bytes")
    return content


def _read_image(path: Path) -> dict[str, str]:
    content = base64.b64encode(_read_file(path)).decode()
    return {"contentType": "image/jpeg", "fileName": path.name, "body": content}


def _read_json(path: Path) -> Any:
    try:
        return msgspec.json.decode(_read_file(path))
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CommandError(f"{path}: is not JSON: {error}") from None


OPTIONS = [
    SendOption("--content", "content", "text, with variables #{name}; - reads standard input", read=_read_text),
    SendOption("--subject", "subject", "subject of an LMS or MMS"),
    SendOption("--from", "sender", "sender number of an SMS, LMS or MMS", "NUMBER"),
    SendOption("--sender-key", "senderKey", "key of the sender profile", "KEY"),
    SendOption("--template", "templateCode", "code of the template", "CODE"),
    SendOption("--at", "sendDate", "when to send it, yyyy-MM-dd HH:mm (default: now)", "DATE"),
    SendOption("--expire-minutes", "expireMinutes", "by when a carrier must have it", "N", int),
    SendOption("--ad", "adFlag", "it is an advertisement", None),
    SendOption("--opt-out-number", "optOutNumber", "free number for opting out of an advertisement", "NUMBER"),
    SendOption("--message-type", "messageType", "type of a friend talk or brand message", "TYPE"),
    SendOption("--targeting", "targeting", "whom a brand message is for: I, M or N", "WHOM"),
    SendOption("--image", "image", "JPEG file", "FILE", Path, _read_image),
    SendOption("--image-link", "imageLink", "link of the image", "URL"),
    SendOption("--buttons", "buttons", "JSON file with a list of buttons", "FILE", Path, _read_json),
    SendOption("--attachment", "attachment", "JSON file: attachment of a brand message", "FILE", Path, _read_json),
    SendOption("--resend-from", "resendPhoneNumber", "send a text from this number if it fails", "NUMBER"),
    SendOption("--resend-content", "resendContent", "that text (default: the text of the message)"),
]  # fmt: skip


def add_body_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that make the body."""
    for option in OPTIONS:
        if option.metavar is None:
            parser.add_argument(option.flag, action="store_true", default=None, help=option.help)
        else:
            parser.add_argument(option.flag, type=option.kind, metavar=option.metavar, help=option.help)


def build_body(given: argparse.Namespace, kind: str) -> msgspec.Struct:
    """Return the body that the options make, without receivers.

    Raises CommandError where an option is missing, is not for this kind, or cannot be read.
    """
    fields = {each.name: each for each in msgspec.structs.fields(KINDS[kind].body)}
    values: dict[str, Any] = {"receivers": []}
    for option in OPTIONS:
        value = getattr(given, option.name)
        if value is None:
            continue
        if option.field not in fields:
            raise CommandError(f"{option.flag}: is not for {kind}")
        values[option.field] = option.read(value)
    if "resendPhoneNumber" in values:
        values["resend"] = True
    elif "resendContent" in values:
        raise CommandError("--resend-content: give --resend-from too")
    missing = [each.flag for each in OPTIONS if each.field not in values and _is_required(fields.get(each.field))]
    if missing:
        raise CommandError(f"{', '.join(missing)}: required for {kind}")
    try:
        return msgspec.convert(values, KINDS[kind].body)
    except msgspec.ValidationError as error:
        raise CommandError(str(error)) from None


def with_receivers(body: msgspec.Struct, receivers: list[ReceiverBody]) -> msgspec.Struct:
    """Return the body with these receivers."""
    return msgspec.structs.replace(body, receivers=receivers)


def _is_required(field: "msgspec.structs.FieldInfo | None") -> bool:
    return field is not None and field.required
