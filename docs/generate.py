"""Writes the pages of docs/reference/ from the code's own tables.

.venv/bin/python docs/generate.py           writes them anew
.venv/bin/python docs/generate.py --check   says which of them are out of date, and fails if any is
"""

import argparse
import dataclasses
import inspect
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from pabal.checks.call import MAX_PAGE, MAX_PAGE_SIZE
from pabal.domain.codes import Code
from pabal.domain.message import Outcome, Product, Status
from pabal.models.answers import Envelope
from pabal.models.schema_names import SCHEMA_NAMES
from pabal.settings.carriers import CARRIER_KINDS, CarrierSettings
from pabal.settings.field import fields, format_value
from pabal.settings.settings import ENVIRONMENT_PREFIX, Settings, describe_settings
from pabal.web.endpoints import COMMON_CODES, ENDPOINTS, Endpoint
from pabal.web.openapi import build_schemas

FOLDER = Path(__file__).parent / "reference"
MADE = "<!-- Made by docs/generate.py from the code: run `make docs`, do not edit. -->\n"

# What fields mean that the code describes by their names alone: of one shape, or wherever they stand.
MEANINGS = {
    "CategoryItem.id": "Category code.",
    "CategoryItem.label": "Category name.",
    "CategoryItem.code": "Category code.",
    "CategoryItem.name": "Category name.",
    "TemplateCategoryItem.id": "Category code.",
    "TemplateCategoryItem.label": "Category name.",
    "TemplateCategoryItem.code": "Category code.",
    "TemplateCategoryItem.name": "Category name.",
    "TemplateCategoryItem.groupName": "Group of the category.",
    "CategoryRef.value": "Category code.",
    "CategoryRef.label": "Category name.",
    "CategoryRef.refId": "Category code.",
    "Labelled.value": "The coded value.",
    "Labelled.label": "Its name in the answer's language.",
    "SenderItem.id": "Identifier; in lists only.",
    "SenderItem.label": "The same as channelId; in lists only.",
    "SenderItem.category": "Category of the profile.",
    "SenderItem.senderKey": "Key of the profile; absent until it is approved.",
    "SenderItem.cellphone": "Administrator's number.",
    "SenderItem.authStatus": "`waiting` or `approval`.",
    "SenderItem.enable": "Whether the profile is in use; in lists only.",
    "SenderItem.disabledReason": "Why it is not in use: `operator`, or what stands in the way at a relay.",
    "SenderItem.created": "When it was registered; in lists only.",
    "SenderItem.changed": "When it last changed; in lists only.",
    "MessageItem.id": "The same as messageId.",
    "MessageItem.label": "The same as receiver.",
    "MessageItem.messageProductType": "What kind of message it is.",
    "MessageItem.sendingStatus": "Where it stands.",
    "MessageItem.yyyyMM": "Month of scheduledDate.",
    "MessageItem.requestDate": "When the send was accepted.",
    "MessageItem.scheduledDate": "When it is, or was, to be sent.",
    "MessageItem.completedDate": "When it ended; absent until then.",
    "MessageItem.content": "Text as the receiver gets it, variables filled in.",
    "MessageItem.subject": "Subject as the receiver gets it.",
    "MessageItem.channelId": "Channel of the sender profile.",
    "RequestItem.messageProductType": "What kind of message it is.",
    "RequestItem.requestDate": "When the send was accepted.",
    "RequestItem.scheduledDate": "When it is, or was, to be sent.",
    "RequestItem.totalCount": "Messages of the send, fallbacks included.",
    "TemplateItem.id": "Identifier.",
    "TemplateItem.label": "The same as name.",
    "TemplateItem.name": "Name.",
    "TemplateItem.content": "Text, with variables `#{name}`.",
    "TemplateItem.category": "Category code.",
    "TemplateItem.channelId": "Channel of the sender profile.",
    "TemplateItem.image": "Its picture, if it has one.",
    "TemplateItem.status": "Where its newest text stands in the review.",
    "TemplateItem.enable": "Whether the template is in use.",
    "TemplateItem.disabledReason": "Why it is not in use: `operator`, or what stands in the way at a relay.",
    "TemplateItem.created": "When it was registered.",
    "TemplateItem.changed": "When it last changed.",
    "TemplateItem.messageType": "basic, extraInfo, channelAddition or mixed.",
    "TemplateItem.emphasisType": "none, text, image or itemList.",
    "PhoneItem.time": "When it arrived.",
    "PhoneItem.from": "Sender number, or channel.",
    "PhoneItem.subject": "Subject.",
    "PhoneItem.content": "Text.",
    "PhoneItem.image": "Whether a picture came along.",
    "ImageItem.fileName": "File name.",
    "ErrorItem.field": "Where: `receivers[3].phoneNumber`.",
    "ErrorItem.code": "What: a result code.",
    "ErrorItem.message": "The same in words.",
    "ListTemplates.status": "Only templates in this state:",
    "ListSenders.authStatus": "Only profiles in this state:",
    "ListMessages.requestId": "Only messages of this send.",
    "ListMessages.messageId": "Only this message.",
    "ListMessages.messageProductType": "Only this kind; see [the kinds](result-codes.md#kinds-of-message).",
    "ListMessages.sendingStatus": "Only messages in this state; see [the states](result-codes.md#states).",
    "ListMessages.channelId": "Only messages of this channel.",
    "ListMessages.senderKey": "Only messages of this sender profile.",
    "ListMessages.templateCode": "Only messages of this template.",
    "ListMessages.requestDate": "Only messages requested then.",
    "ListMessages.scheduledDate": "Only messages scheduled for then.",
    "ListMessages.completeDate": "Only messages that ended then.",
    "ListSenders.channelId": "Only this channel.",
    "ListSenders.senderKey": "Only the profile with this key.",
    "ListTemplates.senderKey": "Only templates of this sender profile.",
    "ListTemplates.templateCode": "Only templates with this code.",
    "DeleteSender.channelId": "Channel of a profile that has no senderKey yet.",
    "AuthSender.channelId": "Channel that was registered.",
    "AuthSender.token": "The six digits that the administrator's phone received.",
    "WriteTemplate.image": "Picture; needed for emphasisType image.",
    "WriteTemplate.emphasisTitle": "Title above the text, at most 50 characters.",
    "WriteTemplate.emphasisAssistPhrase": "Line beside the title, at most 50 characters.",
    "WriteTemplate.moreInfo": "Further text below, at most 500 characters.",
    "Cancel.messageId": "Only this message of the send.",
    "requestId": "Id of the send.",
    "messageId": "Id of the message.",
    "resultCode": "Why it ended so; absent until it has ended. See [result codes](result-codes.md).",
    "receiver": "Receiver number.",
    "receivers": "Who gets it; by default at most 1,000.",
    "reference": "The caller's own id.",
    "originMessageId": "Of a fallback: the failed message that it stands in for.",
    "senderKey": "Key of the sender profile.",
    "channelId": "Search id of the channel.",
    "templateCode": "Code of the template.",
    "image": "Picture.",
    "imageLink": "Where the picture leads.",
    "buttons": "Buttons under the message.",
    "variables": "Names of the variables in its text and links.",
    "comment": "The reviewer's word.",
    "securityTemplate": "Whether it is marked as a security template.",
    "emphasisTitle": "Title above the text.",
    "emphasisAssistPhrase": "Line beside the title.",
    "moreInfo": "Further text below.",
    "page": f"Page number, from 1 to {MAX_PAGE:,}.",
    "pageSize": f"Records per page, from 1 to {MAX_PAGE_SIZE:,}.",
    "totalCount": "Records in all.",
    "resultCount": "Records in this answer.",
    "pageCount": "Pages in all.",
    "currentPage": "Page of this answer.",
    "resultMessage": "The result in words.",
    "item": "The record.",
    "items": "The records of this answer.",
    "counts": "How many of its messages stand where.",
    "waiting": "Still to be sent.",
    "sending": "With a carrier.",
    "completed": "Delivered.",
    "fail": "Failed.",
    "cancel": "Cancelled.",
    "requestedCount": "Messages that were meant.",
    "canceledCount": "Of those, how many still waited and are cancelled now.",
    "buttonType": "Type of the button.",
    "name": "Text on the button.",
    "mobileUrl": "Mobile web link.",
    "pcUrl": "PC web link.",
    "androidUrl": "Android app link.",
    "iosUrl": "iOS app link.",
    "chatExtra": "Passed on to the conversation.",
    "chatEvent": "Event to connect to.",
    "target": "`out`: opens outside of the app.",
    "orderNo": "Order of the button.",
}  # fmt: skip

# What this version says by itself; every other outcome is a carrier's word.
OWN_OUTCOMES = {
    Outcome.TIMED_OUT: "The carrier took the message, and no receipt came in time.",
    Outcome.UNDELIVERABLE: "Also: it has no route, its text could not be composed, or its profile was deleted.",
    Outcome.UNKNOWN: "The carrier gave no usable answer, ten times, and no other carrier was left.",
    Outcome.NOT_SENDABLE_AS_TEXT: "A fallback whose text no text message can hold.",
    Outcome.CARRIER_ERROR: "The carrier was busy ten times, and no other carrier was left.",
}

# Needed, although their shapes do not say so: they go by either of two names.
NEEDED = {"ListMessages.receivers"}

Schema = dict[str, Any]


def pages() -> dict[str, str]:
    """Return every generated page by its file name."""
    return {
        "endpoints.md": endpoints_page(),
        "errors.md": errors_page(),
        "result-codes.md": result_codes_page(),
        "settings.md": settings_page(),
    }


def errors_page() -> str:
    """Return the reference of every result code."""
    lines = [
        "# Errors",
        MADE,
        "Every answer has a `result`. It is `SUCCESS` or one of the codes below; `resultMessage` says the same",
        "in words, in Korean or, with `Accept-Language: en`, in English. Where fields are to blame, `errors` lists",
        "up to 100 of them, each with `field`, `code` and `message`.",
        "",
        "With the setting [`always_ok`](settings.md) every 4xx of an `/api/` path but 429 is answered with HTTP",
        "200; `result` stays the same.",
        "",
        *_table(("Code", "HTTP", "Meaning"), [(_code_link(code), code.http_status, code.text.en) for code in Code]),
    ]
    for code in Code:
        lines += ["", f"## {code.name}", "", f"- HTTP status: {code.http_status}"]
        lines += [f"- Message: {code.text.en}", f"- 메시지: {code.text.ko}"]
        if code.remedy.en:
            lines += [f"- Remedy: {code.remedy.en}", f"- 해결: {code.remedy.ko}"]
        lines.append(f"- Answered by: {_answered_by(code)}")
    return _joined(lines)


def endpoints_page() -> str:
    """Return the reference of every endpoint."""
    lines = [
        "# Endpoints",
        MADE,
        "Every request carries the header `apiKey`. Bodies are JSON (`Content-Type: application/json`).",
        "Unknown fields are ignored; null is the same as absent. Dates are in the service's time zone.",
        "A running service shows the same at `/docs`, and as an OpenAPI 3.1 document at `/openapi.json`.",
        "",
        "Every answer is this envelope, with the fields that the endpoint adds when it succeeds. A field without a",
        "value is left out.",
        "",
        *_fields_table(_schema(Envelope), "Envelope"),
        "",
        f"Every endpoint may answer {_code_links(COMMON_CODES)}.",
        f"An unknown path answers {_code_link(Code.NOT_FOUND)}.",
        "",
        *_table(
            ("Endpoint", "Scope", "What it does"),
            [(f"[{one.method} {one.path}](#{_anchor(one)})", f"`{one.scope}`", one.summary) for one in ENDPOINTS],
        ),
    ]
    for group in dict.fromkeys(endpoint.group for endpoint in ENDPOINTS):
        lines += ["", f"## {group}"]
        for endpoint in ENDPOINTS:
            if endpoint.group == group:
                lines += _endpoint(endpoint)
    lines += ["", "## Shapes", "", "Objects that stand inside bodies and answers."]
    for name, schema in _inner_shapes().items():
        lines += ["", f"### {name}", "", schema["description"], "", *_fields_table(schema, name)]
    return _joined(lines)


def settings_page() -> str:
    """Return the reference of every setting."""
    rows = []
    for name, default, meaning in describe_settings(Settings()):
        in_environment = name not in ("carriers", "routes")
        variable = f"`{ENVIRONMENT_PREFIX}{name.upper()}`" if in_environment else "in the file only"
        limits = _limits(Settings, name)
        rows.append((f"`{name}`", variable, f"`{default}`" if default else "", f"{meaning}{limits}"))
    lines = [
        "# Settings",
        MADE,
        "A setting comes from the command line (`--host`, `--port`, `--data`), else from the environment, else",
        "from a TOML file, else it has its default. The file is named with `--config FILE` or `PABAL_CONFIG`.",
        "An unknown setting is refused with the nearest name. `pabal settings` lists the values in force.",
        "A list in the environment is separated by blanks or commas. `store` is empty,",
        "`sqlite:///FILE` or `postgresql://USER:PASSWORD@HOST:PORT/DATABASE`; a password is never shown.",
        "",
        *_table(("Name", "Variable", "Default", "Meaning"), rows),
        "",
        "## Carriers",
        "",
        f"A carrier is a table `[carriers.NAME]` of the file; its `kind`, {_either(CARRIER_KINDS)}, decides what",
        "else stands in it. A secret such as `password` may also be given as `password_env`, the name of a",
        "variable of the environment, or as `password_file`, the path of a file that holds nothing else.",
        "Neither the logs nor `pabal settings` show it.",
        "",
        *(line for kind, shape in CARRIER_KINDS.items() for line in _carrier_settings(kind, shape)),
        "## Routes",
        "",
        "The table `[routes]` names for each product the carriers to try, in order. Where the file has neither",
        "carriers nor routes, the simulator carries everything. Otherwise only what has a route can be sent; the",
        "rest is refused with `PRODUCT_NOT_AVAILABLE`. The products are the kinds of message in",
        "[result codes](result-codes.md#kinds-of-message), but `email` and `push`.",
        "",
        "```toml",
        "[carriers.phones]",
        'kind = "simulator"',
        "window = 500",
        "",
        "[routes]",
        'sms = ["phones"]',
        "```",
    ]
    return _joined(lines)


def result_codes_page() -> str:
    """Return the reference of how messages end, with the words for their kinds and states."""
    lines = [
        "# Result codes of messages",
        MADE,
        "A message that has ended carries `resultCode` in its record: why it ended as it did. Carriers' own codes",
        "are mapped onto these and never passed through. A cancelled message has none.",
        "",
        *_table(
            ("Code", "Ends as", "Meaning", "뜻", "When Pabal says so itself"),
            [
                (f"`{one.number}`", f"`{one.status.word}`", one.label.en, one.label.ko, OWN_OUTCOMES.get(one, ""))
                for one in Outcome
            ],
        ),
        "",
        "## States",
        "",
        "`sendingStatus` moves from `waiting` to `sending` to `completed` or `fail`, or from `waiting` to",
        "`cancel`. It never moves back.",
        "",
        *_table(
            ("Value", "Meaning", "뜻"), [(f"`{one.word}`", one.label.en, one.label.ko) for one in Status]
        ),
        "",
        "## Kinds of message",
        "",
        "Values of `messageProductType`. `email` and `push` can be asked for in the history; nothing sends them.",
        "",
        *_table(
            ("Value", "Meaning", "뜻"), [(f"`{one.word}`", one.label.en, one.label.ko) for one in Product]
        ),
    ]  # fmt: skip
    return _joined(lines)


def _endpoint(endpoint: Endpoint) -> list[str]:
    kind = f"Endpoint {endpoint.number} of the interface." if endpoint.number else "Extension."
    where = {
        "body": "Fields of the body:",
        "query": "Parameters of the query string:",
        "anywhere": "Fields, in the JSON body, the query string or a form:",
    }[endpoint.input_source]
    asked = _schema(endpoint.body)
    lines = ["", f"### {endpoint.method} {endpoint.path}", ""]
    lines += [f"{endpoint.summary}. {kind} Scope `{endpoint.scope}`."]
    if endpoint.takes_idempotency_key:
        lines += ["Heeds [`Idempotency-Key`](../how-to/idempotency.md)."]
    lines += (
        ["", where, "", *_fields_table(asked, SCHEMA_NAMES[endpoint.body])]
        if asked["properties"]
        else ["", "No fields."]
    )
    added = _added(endpoint.answer)
    if added["properties"]:
        lines += ["", "Answer:", "", *_fields_table(added, SCHEMA_NAMES[endpoint.answer], is_short=True)]
    else:
        lines += ["", "Answer: the envelope alone."]
    own = [code for code in endpoint.codes if code not in COMMON_CODES]
    if own:
        lines += ["", f"Codes: {_code_links(own)}."]
    return lines


def _added(answer: type[msgspec.Struct]) -> Schema:
    """Return the part of an answer's schema that is not the envelope's."""
    schema = _schema(answer)
    kept = set(_schema(Envelope)["properties"])
    return {**schema, "properties": {name: of for name, of in schema["properties"].items() if name not in kept}}


def _inner_shapes() -> dict[str, Schema]:
    """Return the objects that stand inside bodies and answers, by name, in the order of the alphabet."""
    outer = {SCHEMA_NAMES[shape] for one in ENDPOINTS for shape in (one.body, one.answer)} | {"Envelope"}
    return {name: schema for name, schema in sorted(build_schemas().items()) if name not in outer}


def _schema(shape: type[msgspec.Struct]) -> Schema:
    found: Schema = build_schemas()[SCHEMA_NAMES[shape]]
    return found


def _fields_table(schema: Schema, shape: str, *, is_short: bool = False) -> list[str]:
    """Return the table of a shape's fields; in short, it does not say which are always there."""
    always = "Always" if _is_answer(shape) else "Required"
    rows = [
        (f"`{name}`", _type(of), "yes" if _is_needed(schema, shape, name) else "no", _meaning(shape, name, of))
        for name, of in schema["properties"].items()
    ]
    if is_short:
        return _table(("Field", "Type", "Meaning"), [(name, kind, said) for name, kind, _, said in rows])
    return _table(("Field", "Type", always, "Meaning"), rows)


def _is_needed(schema: Schema, shape: str, field: str) -> bool:
    return field in schema["required"] or f"{shape}.{field}" in NEEDED


def _is_answer(shape: str) -> bool:
    return shape.endswith(("Item", "Envelope")) or shape in ("Labelled", "CategoryRef", "Counts")


def _type(of: Schema) -> str:
    if "anyOf" in of:
        return _type(next(option for option in of["anyOf"] if option != {"type": "null"}))
    if "$ref" in of:
        name = of["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if of["type"] == "array":
        return f"array of {_type(of['items'])}"
    return str(of["type"])


def _meaning(shape: str, field: str, of: Schema) -> str:
    """Return what a field means: our words for it in this shape, then the code's, else our words for it anywhere.

    Raises KeyError for a field that nobody has described.
    """
    particular, general = MEANINGS.get(f"{shape}.{field}"), of.get("description")
    said = " ".join(words.rstrip() for words in (particular, general) if words) or MEANINGS[field]
    default = of.get("default")
    return said if default is None else f"{said} Default {default}."


def _either(words: Iterable[str]) -> str:
    return " or ".join(f"`{word}`" for word in words)


def _carrier_settings(kind: str, shape: type[CarrierSettings]) -> list[str]:
    """Return what stands in the table of a carrier of this kind."""
    carried = ", ".join(f"`{product.word}`" for product in shape.products)
    rows = [
        (f"`{name}`", _default(each), f"{each.metadata['help']}{_limits(shape, name)}")
        for name, each in fields(shape).items()
    ]
    return [
        f"### {kind}",
        "",
        f"{inspect.getdoc(shape)} It carries {carried}.",
        "",
        *_table(("Name", "Default", "Meaning"), rows),
        "",
    ]


def _default(each: "dataclasses.Field[Any]") -> str:
    if each.default_factory is not dataclasses.MISSING:
        return ""
    if each.default is dataclasses.MISSING:
        return "needed"
    value = format_value(each.default)
    return f"`{value}`" if value else ""


def _limits(shape: type, name: str) -> str:
    hint, metadata = get_type_hints(shape)[name], fields(shape)[name].metadata
    least, most, longest = metadata["min_value"], metadata["max_value"], metadata["max_length"]
    if get_origin(hint) is Literal:
        return f" One of {', '.join(f'`{word}`' for word in get_args(hint))}."
    if longest is not None:
        return f" At most {longest:,} characters."
    if least is None and most is None:
        return ""
    if most is None:
        return f" At least {least:,}."
    return f" From {least:,} to {most:,}."


def _answered_by(code: Code) -> str:
    if code in COMMON_CODES:
        return "every endpoint"
    listed = [f"[{one.path}](endpoints.md#{_anchor(one)})" for one in ENDPOINTS if code in one.codes]
    if code is Code.NOT_FOUND:
        listed.insert(0, "every unknown path")
    return ", ".join(listed)


def _anchor(endpoint: Endpoint) -> str:
    """Return the fragment that Markdown renderers give to an endpoint's heading."""
    kept = f"{endpoint.method} {endpoint.path}".lower().replace(" ", "-")
    return "".join(character for character in kept if character.isalnum() or character == "-")


def _code_link(code: Code) -> str:
    return f"[`{code.name}`](errors.md#{code.name.lower()})"


def _code_links(codes: Sequence[Code]) -> str:
    return ", ".join(_code_link(code) for code in codes)


def _table(head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> list[str]:
    lines = [head, tuple("---" for _ in head), *rows]
    return [f"| {' | '.join(str(cell).replace('|', chr(92) + '|') for cell in line)} |" for line in lines]


def _joined(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


def main(argv: Sequence[str] | None = None, folder: Path = FOLDER) -> int:
    """Write the pages, or with --check only compare them; return the exit status."""
    parser = argparse.ArgumentParser(description="Write the reference pages from the code.")
    parser.add_argument("--check", action="store_true", help="change nothing; fail if a page is out of date")
    is_check = parser.parse_args(argv).check
    stale = []
    for name, text in pages().items():
        path = folder / name
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if not is_check:
            path.write_text(text, encoding="utf-8")
            print(f"wrote {name}")
    if is_check and stale:
        print(f"out of date: {', '.join(stale)}; run `make docs`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
