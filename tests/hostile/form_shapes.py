"""Shapes of forms for the search of the most expensive one: URL-encoded and multipart, with files."""

import csv
import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlencode

from python_multipart.multipart import MultipartParser

from tests.fixtures.console_send import form
from tests.fixtures.web import encode_jpeg, template_body
from tests.hostile.shapes import Genes

KINDS = ("sms", "lms", "mms", "alimtalk", "friendtalk")
_VARIABLE = re.compile(r"#\{([^{}]+)\}")
LINK_FIELDS = ("mobileUrl", "pcUrl", "androidUrl", "iosUrl", "name")

FORM_GENES: dict[str, tuple[Any, ...]] = {
    "is_multipart": (False, True),
    "characters": (20, 1, 1000, 10_000, 300_000),
    "alphabet": (
        *("x", "가", "😀", " ", "0", "#{a}", "\u0301", "x\u0301", "\n", "\r\n", "/", "%", "<", '"', ",", "\t"),
        *("2026-11-15~", "x😀", "010-1234-5678\n", "\r\n--cu", "\ud7a3\u11a8"),
    ),
    "fields": (1, 0, 2, 5, 100),
    "first_field": (0, 1, 2, 3, 5, 8, 13, 21),
    "unknown_fields": (0, 100, 900, 3000),
    "file_bytes": (0, 1, 1000, 51_200, 300_000),
    "file_start": (b"\xff\xd8\xff", b"x", b"\r\n--cu", b"PK\x03\x04"),
    "file_name_characters": (5, 300, 10_000),
    "part_headers": (0, 3, 20),
    "boundary": ("cut", "-" * 60),
}
"""What any form may have; the first choice of each is harmless."""

MESSAGE_GENES: dict[str, tuple[Any, ...]] = {
    **FORM_GENES,
    "kind": KINDS,
    "is_ad": (False, True),
    "resend": ("", "#{n0}" * 200, "가" * 3000),
    "receivers": (1, 10, 300, 1000, 3000),
    "line": ("good", "bare", "spelled", "bad", "tabs", "quoted", "commas", "same"),
    "names": (0, 1, 20, 200, 2000),
    "name_characters": (1, 100, 4000),
    "repeats": (1, 5, 250),
    "value": ("x", "가" * 50, "😀", "x" * 500, "\u0301"),
    "buttons": (0, 1, 5, 10),
    "link": ("https://a/", "https://a/#{n0}", "#{n0}" * 400),
    "image_bytes": (0, 1000, 51_200, 60_000),
    "act": ("", "add", "up-1", "remove-0"),
}
"""What differs between messages on the send page."""


class EncodedForm(NamedTuple):
    """A form as a browser sends it."""

    content_type: str
    body: bytes


def change_fields(fields: Mapping[str, str], names: list[str], genes: Genes, max_bytes: int) -> dict[str, str]:
    """Return the fields with some of them, and others of these names, replaced by long texts."""
    changed = dict(fields)
    known = [*fields, *[name for name in names if name not in fields]]
    start = genes["first_field"] % len(known)
    room = max_bytes // (3 * max(1, genes["fields"]))
    for name in known[start : start + genes["fields"]]:
        changed[name] = _text(genes, room)
    return changed | {f"unknown{number}": "x" for number in range(genes["unknown_fields"])}


def message_fields(sender_key: str, genes: Genes, max_bytes: int) -> tuple[dict[str, str], int]:
    """Return the fields of the send page, with as many receivers as fit, and their number."""
    names = [f"n{number}" + "n" * (genes["name_characters"] - 1) for number in range(genes["names"])]
    variables = "".join(f"#{{{name}}}" for name in names)
    fields = form(
        genes["kind"],
        content="가" + _cut(variables * genes["repeats"], max_bytes),
        subject="가",
        senderKey=sender_key,
    )
    fields |= {"templateCode": "T1", "act": genes["act"], "adFlag": "1" if genes["is_ad"] else ""}
    if genes["resend"]:
        fields |= {"resend": "1", "resendPhoneNumber": "02-1234-5678", "resendContent": genes["resend"]}
    for number in range(genes["buttons"]):
        fields |= {f"buttons[{number}].{name}": genes["link"] for name in LINK_FIELDS}
        fields[f"buttons[{number}].buttonType"] = "appLink"
    if genes["image_bytes"]:
        image = encode_jpeg(genes["image_bytes"])
        fields |= {"messageType": "FI", "image_name": "a.jpg", "image_type": "image/jpeg", "image_body": image}
    lines = [_line(genes, number) for number in range(genes["receivers"])]
    most = max(1, max_bytes // (2 * len(lines[0].encode())))
    fields["receivers"] = "\n".join(lines[:most])
    return fields, min(len(lines), most)


def template_fields(sender_key: str) -> dict[str, str]:
    """Return the fields of a template's form."""
    fields = {name: value for name, value in template_body(sender_key).items() if isinstance(value, str)}
    link = {"buttonType": "webLink", "name": "a", "mobileUrl": "https://a/", "pcUrl": "https://a/"}
    buttons = {f"buttons[{row}].{name}": value for row in range(5) for name, value in link.items()}
    return {**fields, "emphasisType": "image", **buttons}


def encode_form(fields: Mapping[str, str], genes: Genes, file_field: str = "image") -> EncodedForm:
    """Return a form as a browser encodes it; only a multipart one has a file."""
    if not genes["is_multipart"]:
        return EncodedForm("application/x-www-form-urlencoded", urlencode(fields).encode())
    start = genes["file_start"]
    file = (start * (genes["file_bytes"] // len(start) + 1))[: genes["file_bytes"]]
    return encode_multipart(fields, file, genes, file_field)


def encode_multipart(fields: Mapping[str, str], file: bytes, genes: Genes, file_field: str) -> EncodedForm:
    """Return a multipart form with a file."""
    boundary = str(genes["boundary"])
    more = b"X-A: b\r\n" * genes["part_headers"]
    parts = [f'name="{name}"\r\n'.encode() + more + b"\r\n" + value.encode() for name, value in fields.items()]
    if file:
        file_name = "a" * genes["file_name_characters"]
        head = f'name="{file_field}"; filename="{file_name}"\r\nContent-Type: image/jpeg\r\n'.encode()
        parts.append(head + more + b"\r\n" + file)
    cut = f"--{boundary}\r\nContent-Disposition: form-data; ".encode()
    body = b"".join(cut + part + b"\r\n" for part in parts) + f"--{boundary}--\r\n".encode()
    return EncodedForm(f"multipart/form-data; boundary={boundary}", body)


def decode_form(encoded: EncodedForm) -> Callable[[], object]:
    """Return the yardstick of a form: to decode it and to normalize its texts."""
    if encoded.content_type.startswith("multipart"):
        return lambda: _decode_multipart(encoded)
    text = encoded.body.decode()
    return lambda: [(name, unicodedata.normalize("NFC", value)) for name, value in parse_qsl(text, True)]


def decode_message(encoded: EncodedForm, fields: Mapping[str, str]) -> Callable[[], object]:
    """Return the yardstick of a message: to decode its form, and the texts in it that are lists themselves."""
    decode = decode_form(encoded)
    lines = fields["receivers"].splitlines()
    return lambda: (decode(), list(csv.reader(lines)), [_VARIABLE.split(text) for text in fields.values()])


def _decode_multipart(encoded: EncodedForm) -> list[str]:
    """Return the texts of a form, normalized, as far as it can be parsed; files stay bytes."""
    parts: list[list[bytes]] = []
    parser = MultipartParser(
        encoded.content_type.partition("boundary=")[2].encode(),
        {
            "on_part_begin": lambda: parts.append([]),
            "on_part_data": lambda data, start, end: parts[-1].append(data[start:end]),
            "on_header_value": lambda data, start, end: None,
        },
    )
    try:
        parser.write(encoded.body)
    except ValueError:
        return []
    return [_normalize(b"".join(pieces)) for pieces in parts]


def _normalize(part: bytes) -> str:
    try:
        return unicodedata.normalize("NFC", part.decode())
    except UnicodeDecodeError:
        return ""  # a file


def _text(genes: Genes, max_bytes: int) -> str:
    alphabet = str(genes["alphabet"])
    most = max_bytes // len(re.sub(r"\W", "%20", alphabet, flags=re.ASCII))
    return alphabet * max(1, min(int(genes["characters"]) // len(alphabet), most))


def _cut(text: str, max_bytes: int) -> str:
    return text[: min(9999, max_bytes // 4)]


def _line(genes: Genes, number: int) -> str:
    """Return a receiver as it is typed."""
    phone = {"spelled": f"+82 10-{number // 10_000:04}-{number % 10_000:04}", "bad": "1", "same": "01012345678"}
    shown = phone.get(genes["line"], f"010{number:08}")
    values = [str(genes["value"])] * genes["names"]
    if genes["line"] == "quoted":
        return ",".join((shown, *(f'"{value}"' for value in values)))
    if genes["line"] == "bare":
        return shown
    if genes["line"] == "commas":
        return shown + "," * 500
    return ("\t" if genes["line"] == "tabs" else ",").join((shown, *values))
