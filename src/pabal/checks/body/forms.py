"""Parses input into typed bodies and collects every problem with it."""

import codecs
import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import UnionType
from typing import Any, Generic, NamedTuple, TypeVar, Union, cast, get_args, get_origin

import msgspec

from pabal.checks.body.unknown_fields import closed_type, find_unknown, read_unknown
from pabal.domain.base.codes import MAX_PROBLEMS, Code, Problem, Refused, Text
from pabal.domain.content.text import MAX_NAMED_CHARACTERS
from pabal.domain.content.variables import RawNumber
from pabal.domain.sends.field_warning import MAX_WARNINGS, FieldWarning, WarningCode

B = TypeVar("B", bound=msgspec.Struct)
T = TypeVar("T")

MAX_LIST_ITEMS = 100_000
"""Limit of any list: the largest value of the setting `max_receivers`."""
MAX_EXPLAINED_BYTES = 256 * 1024
"""In a longer body only the first problem of its fields is reported."""
_TOO_MANY_CODES = {
    "receivers": Code.TOO_MANY_RECEIVERS,
    "buttons": Code.INVALID_BUTTON,
    "quickReplies": Code.INVALID_BUTTON,
}
_BUTTON_PATHS = ("buttons[", "quickReplies[")
_FORBIDDEN_CHARACTERS = re.compile("[\0\ud800-\udfff]")
_NUMBER = re.compile(r"-?[0-9]{1,12}", re.ASCII)
TYPE_NAMES = {
    str: Text("문자열", "a string"),
    int: Text("정수", "a whole number"),
    bool: Text("true 또는 false", "true or false"),
}

_TOO_DEEP = Text("중첩이 너무 깊습니다.", "It is nested too deeply.")
_UNKNOWN_FIELD = Text("알 수 없는 항목입니다.", "There is no such field.")
NOT_AN_OBJECT = Text("중괄호로 감싼 객체 하나를 보내세요.", "Send one object in braces.")


class Form(Generic[B]):
    """A body that is checked field by field; collects every problem, and warnings about a body without any."""

    def __init__(
        self,
        body: B,
        problems: list[Problem],
        max_receiver_problems: int = MAX_PROBLEMS,
        warnings: Sequence[FieldWarning] = (),
    ) -> None:
        self.body = body
        self.problems = problems
        self.warnings = warnings
        self.max_receiver_problems = max_receiver_problems
        """The check of receivers stops after this many problems."""

    def read(self, field: str, parse: Callable[[Any], T]) -> T:
        """Return a required field, parsed; `raise_problems` reports it if it is missing or wrong."""
        value = getattr(self.body, field)
        if value is None or value == "":
            self.add(Problem(Code.MISSING_PARAMETER, field))
            return cast(T, None)  # never used: `raise_problems` raises
        return cast(T, self._parse(field, value, parse))

    def read_optional(self, field: str, parse: Callable[[Any], T]) -> T | None:
        """Return an optional field, parsed; None if it is absent or wrong."""
        value = getattr(self.body, field)
        return None if value is None else self._parse(field, value, parse)

    def add(self, problem: Problem) -> None:
        """Add a problem, unless its field already has one."""
        if not any(known.field == problem.field for known in self.problems):
            self.problems.append(problem)

    def warn(self, warning: FieldWarning) -> None:
        """Add a warning, unless there are very many."""
        if len(self.warnings) < MAX_WARNINGS:
            self.warnings = [*self.warnings, warning]

    def refuse_unknown_fields(self) -> None:
        """Raises Refused(INVALID_PARAMETER) naming every unknown field."""
        unknown = [each for each in self.warnings if each.code is WarningCode.UNKNOWN_FIELD]
        if unknown:
            raise Refused.from_problems(
                [Problem(Code.INVALID_PARAMETER, each.field, each.detail or _UNKNOWN_FIELD) for each in unknown]
            )

    def add_refusal(self, refusal: Refused, field: str) -> None:
        """Add the problems of a refusal, with their fields below `field`."""
        for code, within, detail in refusal.problems:
            inner = within.removeprefix(field).lstrip(".")
            is_indexed = inner.startswith("[")
            self.add(Problem(code, field + inner if is_indexed or not inner else f"{field}.{inner}", detail))

    def raise_problems(self) -> None:
        """Raise Refused for all problems in the order of the fields; those of single receivers come later."""
        if not self.problems:
            return
        found = [
            self.name_misspelt(problem) for problem in self.problems if not problem.field.startswith("receivers[")
        ]
        if found:
            order = {name: place for place, name in enumerate(self.body.__struct_fields__)}
            found.sort(key=lambda problem: order.get(re.split(r"[.\[]", problem.field)[0], -1))
            raise Refused.from_problems(found)

    def name_misspelt(self, problem: Problem) -> Problem:
        """Return the problem of a missing field with the unknown field that resembles it, if there is one."""
        if problem.code is not Code.MISSING_PARAMETER or problem.detail is not None:
            return problem
        given = next((each.field for each in self.warnings if each.near == problem.field), None)
        if given is None:
            return problem
        detail = Text(
            f"{given}(으)로 보낸 것이 {problem.field}인가요?", f"Did you mean {problem.field} by {given}?"
        )
        return Problem(problem.code, problem.field, detail)

    def _parse(self, field: str, value: Any, parse: Callable[[Any], T]) -> T | None:
        try:
            return parse(value)
        except Refused as refusal:
            self.add_refusal(refusal, field)
            return None


@lru_cache
def create_decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    """Return the decoder of a type of body, or of a part of one."""
    return msgspec.json.Decoder(kind, float_hook=RawNumber)


def parse_json(body_type: type[B], raw: bytes) -> Form[B]:
    """Return the form of a JSON body of at most MAX_EXPLAINED_BYTES; an empty body is `{}`.

    Raises Refused(INVALID_JSON) if it is not a JSON object.
    """
    if b"\\u0000" not in raw:  # fast path for a valid body
        try:
            return Form(create_decoder(closed_type(body_type)).decode(raw or b"{}"), [])
        except msgspec.ValidationError as error:
            if read_unknown(str(error)) and (form := _parse_open(body_type, raw)):
                return form
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            pass
    return parse_fields(body_type, parse_json_object(raw))


def _parse_open(body_type: type[B], raw: bytes) -> Form[B] | None:
    """Return the form of a body with unknown fields; None for one with problems."""
    try:
        body = create_decoder(body_type).decode(raw)
        warnings = find_unknown(body_type, msgspec.json.decode(raw))  # it also reads what the first one skips
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return Form(body, [], warnings=warnings)


HAS_BOM = Text(
    "본문 맨 앞에 BOM(EF BB BF)이 있습니다. 빼고 보내세요. 파일이라면 'UTF-8(BOM 없음)'으로 저장하세요.",
    "It begins with a byte order mark (EF BB BF): send it without one; save a file as UTF-8 without BOM.",
)


def _explain_encoding(raw: bytes, position: int) -> Text:
    """Return where a body is not UTF-8, and what it seems to be."""
    try:
        raw.decode("cp949")
    except UnicodeDecodeError:
        return Text(f"{position}번째 바이트가 UTF-8이 아닙니다.", f"Byte {position} is not valid UTF-8.")
    return Text(
        f"{position}번째 바이트부터 CP949(EUC-KR)로 보입니다. UTF-8로 보내세요.",
        f"From byte {position} on it seems to be CP949 (EUC-KR): send UTF-8.",
    )


def parse_json_object(raw: bytes) -> dict[str, Any]:
    """Return the JSON object of a body.

    Raises Refused(INVALID_JSON).
    """
    try:
        found = json.loads(raw.decode("utf-8") or "{}", parse_float=RawNumber, parse_constant=_reject_constant)
    except RecursionError:
        raise Refused(Code.INVALID_JSON, detail=_TOO_DEEP) from None
    except json.JSONDecodeError as error:
        if raw.startswith(codecs.BOM_UTF8):
            raise Refused(Code.INVALID_JSON, detail=HAS_BOM) from None
        detail = Text(
            f"{error.lineno}행 {error.colno}열을 확인하세요.", f"See line {error.lineno}, column {error.colno}."
        )
        raise Refused(Code.INVALID_JSON, detail=detail) from None
    except UnicodeDecodeError as error:
        raise Refused(Code.INVALID_JSON, detail=_explain_encoding(raw, error.start + 1)) from None
    except ValueError:
        raise Refused(Code.INVALID_JSON) from None
    if not isinstance(found, dict):
        raise Refused(Code.INVALID_JSON, detail=NOT_AN_OBJECT)
    return found


def parse_fields(body_type: type[B], fields: Mapping[str, Any]) -> Form[B]:
    """Return the form of some fields; each field of the wrong type is a problem."""
    problems: list[Problem] = []
    body = _convert_struct(body_type, fields, "", problems)
    explains = not problems or any(each.code is Code.MISSING_PARAMETER for each in problems)
    return Form(body, problems, warnings=find_unknown(body_type, fields) if explains else ())


def convert_text_fields(body_type: type[B], fields: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields of a query string or form with integers converted and empty values left out."""
    numbers = {field.encode_name for field in msgspec.structs.fields(body_type) if plain_type(field.type) is int}
    return {
        name: int(text) if name in numbers and _NUMBER.fullmatch(text) else text
        for name, text in fields.items()
        if text != ""
    }


def _reject_constant(name: str) -> None:
    raise ValueError(name)


def _convert_struct(body_type: type[B], fields: Mapping[str, Any], prefix: str, problems: list[Problem]) -> B:
    known, required = _field_types(body_type)
    values: dict[str, Any] = {}
    for name, spelling in required:
        if fields.get(spelling) is None:
            path = f"{prefix}{spelling}"
            problems.append(Problem(missing_code(path), path))
            values[name] = None
    for spelling, value in fields.items():
        if value is None or spelling not in known:
            continue
        name, kind = known[spelling]
        if kind is str and type(value) is str and not _has_forbidden_characters(value):
            values[name] = value  # most fields of most bodies
        else:
            values[name] = _convert(kind, value, f"{prefix}{spelling}", problems)
    return body_type(**values)


def _convert(kind: Any, value: Any, path: str, problems: list[Problem]) -> Any:
    """Return the value if it is of this type, else add a problem and return None."""
    if kind in TYPE_NAMES:
        return _convert_plain(kind, value, path, problems)
    if (inner := _inner_type(kind)) is not None:
        if not isinstance(value, list):
            problems.append(wrong_type_problem(path, Text("배열", "an array")))
            return None
        return _convert_list(inner, value, path, problems)
    if _is_struct(kind):
        if not isinstance(value, dict):
            problems.append(wrong_type_problem(path, Text("객체", "an object")))
            return _convert_struct(kind, {}, f"{path}.", [])
        return _convert_struct(kind, value, f"{path}.", problems)
    if not isinstance(value, dict):
        problems.append(wrong_type_problem(path, Text("객체", "an object")))
        return None
    texts = [*value, *[each for each in value.values() if isinstance(each, str)]]
    _check_characters("".join(texts), path, problems)
    return value


def _convert_plain(kind: Any, value: Any, path: str, problems: list[Problem]) -> Any:
    if not isinstance(value, kind) or isinstance(value, RawNumber) or (kind is int and isinstance(value, bool)):
        problems.append(wrong_type_problem(path, TYPE_NAMES[kind]))
        return None
    _check_characters(value, path, problems)
    return value


def _convert_list(inner: Any, values: list[Any], path: str, problems: list[Problem]) -> list[Any]:
    """Return the values of a list; stop at MAX_PROBLEMS problems and refuse more than MAX_LIST_ITEMS values."""
    if len(values) > MAX_LIST_ITEMS:
        problems.append(too_many_problem(path))
        return []
    found: list[Any] = []
    is_struct = _is_struct(inner)
    for index, each in enumerate(values):
        if len(problems) >= MAX_PROBLEMS:
            break
        if is_struct and type(each) is dict:  # without the questions that are the same for every item
            found.append(_convert_struct(inner, each, f"{path}[{index}].", problems))
        else:
            found.append(_convert(inner, each, f"{path}[{index}]", problems))
    return found


class _FieldTypes(NamedTuple):
    """The fields of a body, by their names in JSON."""

    known: dict[str, tuple[str, Any]]
    """Name and type."""
    required: tuple[tuple[str, str], ...]
    """Name, and name in JSON."""


@lru_cache
def _field_types(body_type: type[msgspec.Struct]) -> _FieldTypes:
    fields = msgspec.structs.fields(body_type)
    return _FieldTypes(
        {field.encode_name: (field.name, plain_type(field.type)) for field in fields},
        tuple((field.name, field.encode_name) for field in fields if field.required),
    )


@lru_cache
def _inner_type(kind: Any) -> Any:
    """Return the type of a list's items; None for a type that is no list."""
    return plain_type(get_args(kind)[0]) if get_origin(kind) is list else None


@lru_cache
def _is_struct(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


@lru_cache
def plain_type(hint: Any) -> Any:
    """Return the type behind annotations and `| None`."""
    while hasattr(hint, "__metadata__"):
        hint = hint.__origin__
    if get_origin(hint) in (Union, UnionType):
        return plain_type(next(arg for arg in get_args(hint) if arg is not type(None)))
    return hint


def _check_characters(value: Any, path: str, problems: list[Problem]) -> None:
    """Add a problem if a text has forbidden characters."""
    if not isinstance(value, str) or not _has_forbidden_characters(value):
        return
    found = sorted(set(_FORBIDDEN_CHARACTERS.findall(value)))[:MAX_NAMED_CHARACTERS]
    listed = ", ".join(f"U+{ord(c):04X}" for c in found)
    detail = Text(f"빼야 하는 글자: {listed}", f"Remove these characters: {listed}")
    code = Code.INVALID_BUTTON if path.startswith(_BUTTON_PATHS) else Code.UNSUPPORTED_CHARACTER
    problems.append(Problem(code, path, detail))


def _has_forbidden_characters(text: str) -> bool:
    if text.isascii():  # quicker than the expression, in which only NUL is ASCII
        return "\0" in text
    return _FORBIDDEN_CHARACTERS.search(text) is not None


def too_many_code(path: str) -> Code:
    """Return the code for a list with too much in it."""
    return _TOO_MANY_CODES.get(path, Code.INVALID_PARAMETER)


def too_many_problem(path: str) -> Problem:
    """Return the problem of a list with more than MAX_LIST_ITEMS values."""
    detail = Text(f"최대 {MAX_LIST_ITEMS:,}개입니다.", f"At most {MAX_LIST_ITEMS:,}.")
    return Problem(too_many_code(path), path, detail)


def missing_code(path: str) -> Code:
    """Return the code for a value that is missing."""
    return Code.INVALID_BUTTON if path.startswith(_BUTTON_PATHS) else Code.MISSING_PARAMETER


def wrong_type_problem(path: str, expected: Text) -> Problem:
    """Return the problem of a value of another type."""
    code = Code.INVALID_BUTTON if path.startswith(_BUTTON_PATHS) else Code.INVALID_PARAMETER
    detail = Text(f"필요한 형식: {expected.ko}", f"It must be {expected.en}.")
    return Problem(code, path, detail)
