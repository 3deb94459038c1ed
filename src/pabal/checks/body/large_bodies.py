"""Decodes large JSON bodies in several steps, so that other calls are answered in between."""

import asyncio
import re
from codecs import BOM_UTF8
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar, get_args, get_origin

import msgspec
from msgspec import Raw, Struct

from pabal.checks.body.forms import (
    HAS_BOM,
    MAX_LIST_ITEMS,
    NOT_AN_OBJECT,
    TYPE_NAMES,
    Form,
    create_decoder,
    missing_code,
    plain_type,
    too_many_code,
    too_many_problem,
    wrong_type_problem,
)
from pabal.checks.body.unknown_fields import close_type, read_unknown
from pabal.domain.base.codes import Code, Problem, Refused, Text
from pabal.domain.sends.field_warning import FieldWarning
from pabal.models.bodies import ReceiverBody

B = TypeVar("B", bound=Struct)

TURN_BYTES = 128 * 1024
"""Values of receivers that are decoded in one step."""
TURN_RECEIVERS = 10_000
"""Receivers of one step, if they have hardly any values."""
MAX_VALUES_BYTES = 1024 * 1024
"""Limit of the `templateData` of one receiver, which is decoded in one step."""
MAX_NESTED_BYTES = 256 * 1024
"""Limit of any other field with lists in it, as JSON: an empty button of 3 bytes becomes an object of 100."""
MAX_IMAGES_BYTES = 2 * 1024 * 1024
"""Limit of `images`: three of the largest that a carrier takes for an MMS."""

_ABSENT = Raw(b"null")
_WIRE_TYPE_NAMES = {
    "str": TYPE_NAMES[str],
    "int": TYPE_NAMES[int],
    "bool": TYPE_NAMES[bool],
    "array": Text("배열", "an array"),
    "object": Text("객체", "an object"),
}
_MISSING_FIELD = re.compile(r"missing required field `(\w+)`")
_EXPECTED_TYPE = re.compile(r"Expected `(\w+)")
_TOO_LONG_TO_EXPLAIN = Text(
    "본문이 길어 위치를 찾지 않았습니다. UTF-8로 된 올바른 JSON인지, U+0000이 없는지 확인하세요.",
    "The body is too long to say where: check that it is valid JSON in UTF-8, without U+0000.",
)


class _Decoders(NamedTuple):
    """A decoder that refuses unknown fields, and one that ignores them."""

    closed: msgspec.json.Decoder[Any]
    open: msgspec.json.Decoder[Any]


class _Outline(NamedTuple):
    """How a body is decoded: first without the parts that may hold very many values, then each of these."""

    decoders: "_Decoders"
    parts: tuple[tuple[str, str, "_Decoders"], ...]
    """Name, name in JSON and decoders of each part."""
    receivers: str
    """The field of the receivers, whose values are decoded last; empty: it has none."""


async def parse_large_json(body_type: type[B], raw: bytes) -> Form[B]:
    """Return the form of a JSON body that is too long to report all its problems.

    Raises Refused for the first problem that it finds.
    """
    if b"\\u0000" in raw:
        raise Refused(Code.UNSUPPORTED_CHARACTER, detail=_TOO_LONG_TO_EXPLAIN)
    await asyncio.sleep(0)
    outline = _outline(body_type)
    warnings: list[FieldWarning] = []
    first = _decode_either(outline.decoders, raw, "", warnings)
    body = body_type(**{name: getattr(first, name) for name in first.__struct_fields__})
    for name, spelling, decoders in outline.parts:
        await asyncio.sleep(0)
        part = getattr(body, name)
        most = MAX_IMAGES_BYTES if name == "images" else MAX_NESTED_BYTES
        _check_size(part, most, spelling, too_many_code(spelling))
        setattr(body, name, _decode_either(decoders, part, spelling, warnings))
    if outline.receivers:
        await _decode_values(getattr(body, outline.receivers))
    return Form(body, [], warnings=warnings[:1])


async def _decode_values(receivers: list[Any]) -> None:
    """Decode the values of receivers, step by step.

    Raises Refused.
    """
    if len(receivers) > MAX_LIST_ITEMS:
        raise Refused.from_problems([too_many_problem("receivers")])
    decoder = create_decoder(dict[str, Any] | None)
    size = 0
    for index, receiver in enumerate(receivers):
        if size >= TURN_BYTES or index % TURN_RECEIVERS == 0:
            await asyncio.sleep(0)
            size = 0
        values = receiver.templateData
        if values is _ABSENT:
            receiver.templateData = None
            continue
        size += _check_size(values, MAX_VALUES_BYTES, "receivers[{}].templateData", Code.INVALID_PARAMETER, index)
        receiver.templateData = _decode(decoder, values, ".receivers[{}].templateData", index)


def _check_size(part: Raw, limit: int, place: str, code: Code, index: int = 0) -> int:
    """Return the bytes of a part; `index` is put into its place.

    Raises Refused for one that is too large.
    """
    size = memoryview(part).nbytes
    if size > limit:
        detail = Text(f"JSON으로 최대 {limit:,}바이트입니다.", f"At most {limit:,} bytes of JSON.")
        raise Refused.from_problems([Problem(code, place.format(index), detail)])
    return size


def _decode_either(decoders: _Decoders, raw: bytes | Raw, place: str, warnings: list[FieldWarning]) -> Any:
    """Return what a body or a part of it holds; its first unknown field is added to the warnings.

    Raises Refused.
    """
    try:
        return decoders.closed.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        unknown = read_unknown(str(error), place)
        if unknown:
            warnings.append(unknown)
    return _decode(decoders.open, raw, f".{place}" if place else "")


def _decode(decoder: msgspec.json.Decoder[Any], raw: bytes | Raw, place: str = "", index: int = 0) -> Any:
    """Return what a body or a part of it holds; `place` is where the part is.

    Raises Refused.
    """
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError as error:
        raise _first_problem(str(error), place.format(index)) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        has_mark = bytes(raw).startswith(BOM_UTF8)
        raise Refused(Code.INVALID_JSON, detail=HAS_BOM if has_mark else _TOO_LONG_TO_EXPLAIN) from None


def _first_problem(error: str, part: str) -> Refused:
    """Return the refusal for the first problem of a body: to find all would hold up everyone else."""
    what, _, place = error.removesuffix("`").partition(" - at `$")
    path = (part + place).lstrip(".")
    if missing := _MISSING_FIELD.search(what):
        path = f"{path}.{missing[1]}" if path else missing[1]
    if not path:
        return Refused(Code.INVALID_JSON, detail=NOT_AN_OBJECT)
    if missing or what.endswith("got `null`"):
        problem = Problem(missing_code(path), path)
    else:
        expected = _EXPECTED_TYPE.search(what)
        problem = wrong_type_problem(path, _WIRE_TYPE_NAMES.get(expected[1] if expected else "", TYPE_NAMES[str]))
    return Refused.from_problems([problem])


@lru_cache
def _outline(body_type: type[Struct]) -> _Outline:
    fields: list[tuple[str, Any, Any]] = []
    closed_fields: list[tuple[str, Any, Any]] = []
    parts = []
    receivers = ""
    for each in msgspec.structs.fields(body_type):
        kind: Any = each.type
        closed: Any = close_type(kind)
        default = each.default
        inner = _receiver_type(kind)
        if inner:
            receivers = each.name
            kind = list[_outline_receiver(inner, is_closed=False)]  # type: ignore[misc]
            closed = list[_outline_receiver(inner, is_closed=True)]  # type: ignore[misc]
        elif _has_list(kind):
            parts.append((each.name, each.encode_name, _Decoders(create_decoder(closed), create_decoder(kind))))
            kind = closed = Raw
            default = _ABSENT if default is None else default
        given = msgspec.field(default=default, name=each.encode_name)
        fields.append((each.name, kind, given))
        closed_fields.append((each.name, closed, given))
    name = f"Large{body_type.__name__}"
    first = msgspec.defstruct(name, closed_fields, kw_only=True, forbid_unknown_fields=True)
    other = msgspec.defstruct(name, fields, kw_only=True)
    return _Outline(_Decoders(create_decoder(first), create_decoder(other)), tuple(parts), receivers)


@lru_cache
def _outline_receiver(receiver_type: type[ReceiverBody], *, is_closed: bool) -> type[Struct]:
    """Return the type of a receiver whose values are decoded later.

    What JSON holds has no cycles, so the collector of garbage need not look at hundreds of thousands of them.
    """
    name, values = f"Large{receiver_type.__name__}", ("templateData", Raw, _ABSENT)
    return msgspec.defstruct(
        name, [values], bases=(receiver_type,), kw_only=True, gc=False, forbid_unknown_fields=is_closed
    )


def _receiver_type(hint: Any) -> type[ReceiverBody] | None:
    """Return the type of a list's receivers; None for any other type."""
    kind = plain_type(hint)
    inner = get_args(kind)[0] if get_origin(kind) is list else None
    return inner if isinstance(inner, type) and issubclass(inner, ReceiverBody) else None


def _has_list(hint: Any) -> bool:
    """Return whether a type is a list, or an object with one in it."""
    kind = plain_type(hint)
    if get_origin(kind) in (list, dict):
        return True
    is_object = isinstance(kind, type) and issubclass(kind, Struct)
    return is_object and any(_has_list(each.type) for each in msgspec.structs.fields(kind))
