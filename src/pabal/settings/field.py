"""Declares, converts, checks and formats settings."""

import dataclasses
import difflib
import types
from collections.abc import Iterable
from dataclasses import field
from decimal import Decimal, DecimalException
from functools import cache
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints
from zoneinfo import ZoneInfo

from pabal.domain.base.codes import Text, TextError
from pabal.domain.sends.message import OUTCOME_BY_NUMBER, Outcome, Status
from pabal.settings.environment import explain_os_error

SECRET_IS_SET = "(set)"
"""Shown instead of a secret."""
MAX_SECRET_FILE_BYTES = 10_000
"""How much is read of a file with a secret."""
NO_HINT = Text("", "")
MAX_PRICE_WON = 1_000_000
"""Highest price of one message; a higher one is a typing error."""


class BadSetting(TextError):
    """A setting is unknown or has an invalid value; the message says what to do."""


def setting(
    default: Any,
    ko: str,
    en: str,
    *,
    limits: tuple[int | None, int | None] = (None, None),
    max_length: int | None = None,
    is_secret: bool = False,
) -> Any:
    """Declare a setting: default, meaning, least and greatest value; the default `...` makes it required."""
    metadata = {
        "help": Text(ko, en),
        "min_value": limits[0],
        "max_value": limits[1],
        "max_length": max_length,
        "is_secret": is_secret,
    }
    if isinstance(default, (list, dict)):
        return field(default_factory=lambda: type(default)(default), metadata=metadata, repr=not is_secret)
    if default is ...:
        return field(metadata=metadata, repr=not is_secret)
    return field(default=default, metadata=metadata, repr=not is_secret)


def same_setting(settings_type: type, name: str, default: Any) -> Any:
    """Declare a setting that another class has as well, with its own default."""
    return field(default=default, metadata=fields(settings_type)[name].metadata)


def fields(settings_type: type) -> dict[str, "dataclasses.Field[Any]"]:
    """Return the settings that a class declares, by name."""
    return {each.name: each for each in dataclasses.fields(settings_type) if each.metadata}


def convert(settings_type: type, name: str, label: str, value: Any) -> Any:
    """Convert a value to the type of a setting; `label` is the name to show in messages.

    Raises BadSetting.
    """
    hint = _type_hints(settings_type)[name]
    try:
        found = _convert(hint, value)
    except (
        ValueError,
        KeyError,
        TypeError,
        OSError,
        AttributeError,
        DecimalException,
    ):  # OSError: a time zone that is a directory
        is_secret = fields(settings_type)[name].metadata["is_secret"]
        given = Text("주어진 값", "the value") if is_secret else Text(repr(value), repr(value))
        expected = _expected_type(hint)
        raise BadSetting(
            f"{label}: {given.ko}은(는) {expected.ko}이(가) 아닙니다", f"{label}: {given.en} is not {expected.en}"
        ) from None
    check_limits(settings_type, name, label, found)
    return found


def check_limits(settings_type: type, name: str, label: str, value: Any) -> None:
    """Raise BadSetting if a number or a text exceeds the limits of its setting."""
    metadata = fields(settings_type)[name].metadata
    if isinstance(value, int):
        if metadata["min_value"] is not None and value < metadata["min_value"]:
            raise BadSetting(
                f"{label}: {metadata['min_value']} 이상이어야 합니다", f"{label}: at least {metadata['min_value']}"
            )
        if metadata["max_value"] is not None and value > metadata["max_value"]:
            raise BadSetting(
                f"{label}: {metadata['max_value']} 이하여야 합니다", f"{label}: at most {metadata['max_value']}"
            )
    if isinstance(value, str) and metadata["max_length"] is not None and len(value) > metadata["max_length"]:
        raise BadSetting(
            f"{label}: {metadata['max_length']}자 이하여야 합니다",
            f"{label}: at most {metadata['max_length']} characters",
        )


def suggest(name: str, known: Iterable[str], default: Text = NO_HINT) -> Text:
    """Return a hint to the known name that was probably meant."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return Text(f". 혹시 {near[0]}입니까?", f"; did you mean {near[0]}?") if near else default


def read_setting_file(name: str, file: Path, encoding: str = "utf-8") -> str:
    """Return the text of the file that a setting names.

    Raises BadSetting, which shows nothing of it.
    """
    try:
        with file.open("rb") as opened:
            return opened.read(MAX_SECRET_FILE_BYTES).decode(encoding)
    except OSError as error:
        why = explain_os_error(error)
        raise BadSetting(
            f"{name}: {file}을(를) 읽을 수 없습니다({why.ko})", f"{name}: {file} cannot be read ({why.en})"
        ) from None
    except ValueError:
        kind = "ASCII " if encoding == "ascii" else ""
        raise BadSetting(
            f"{name}: {file}은(는) {kind}텍스트가 아닙니다", f"{name}: {file} is not {kind}text"
        ) from None


def format_value(value: Any) -> str:
    """Return a value as an operator would write it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Outcome):
        return str(value.number)
    if isinstance(value, dict):
        return ", ".join(f"{name} ({_format_inner(each)})" for name, each in value.items())
    if isinstance(value, list):
        return " ".join(map(str, value))
    return "" if value is None else str(value)


def show_value(declared: "dataclasses.Field[Any]", value: Any) -> str:
    """Return a value to show; of a secret only whether it is set."""
    if declared.metadata["is_secret"]:
        return SECRET_IS_SET if value else ""
    return format_value(value)


def _format_inner(value: Any) -> str:
    if isinstance(value, list):
        return " → ".join(map(str, value))
    return str(value.kind) if hasattr(value, "kind") else format_value(value)


@cache
def _type_hints(shape: type) -> dict[str, Any]:
    return get_type_hints(shape)


def _convert(hint: Any, value: Any) -> Any:
    origin = get_origin(hint)
    if origin is Literal:
        if value not in get_args(hint):
            raise ValueError
        return value
    if origin is list:
        parts = value.replace(",", " ").split() if isinstance(value, str) else value
        return [_convert(get_args(hint)[0], part) for part in parts]
    if origin is dict:
        return {name: _convert(get_args(hint)[1], each) for name, each in value.items()}
    if origin in (Union, types.UnionType):
        if IPv4Network in get_args(hint):
            return ip_network(_require_text(value))
        return _convert(get_args(hint)[0], value)
    if hint is bool:
        if isinstance(value, bool):
            return value
        return {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}[
            _require_text(value).lower()
        ]
    if hint is int:
        if isinstance(value, bool) or not isinstance(value, (int, str)):
            raise ValueError
        return int(value)
    if hint is Decimal:
        return _convert_price(value)
    if hint is Outcome:
        outcome = OUTCOME_BY_NUMBER[int(value)]
        if outcome.status is not Status.FAIL:
            raise ValueError
        return outcome
    if not isinstance(value, (str, hint)):
        raise ValueError
    return hint(value)


def _convert_price(value: Any) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError
    price = Decimal(str(value))
    if not 0 <= price <= MAX_PRICE_WON or price != price.quantize(Decimal("0.01")):
        raise ValueError
    return price


def _require_text(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError
    return value


_EXPECTED_TABLES = {
    Outcome: Text("실패한 메시지의 결과 코드 표", "a table of result codes of failed messages"),
    Decimal: Text(
        f"0부터 {MAX_PRICE_WON:,}까지, 소수점 둘째 자리까지의 단가(원) 표",
        f"a table of prices in won, from 0 to {MAX_PRICE_WON:,} with at most two decimals",
    ),
}


def _expected_type(hint: Any) -> Text:
    origin = get_origin(hint)
    if origin is Literal:
        words = ", ".join(get_args(hint))
        return Text(f"{words} 가운데 하나", f"one of {words}")
    if origin is list:
        return (
            Text("네트워크 목록", "a list of networks")
            if IPv6Network in get_args(get_args(hint)[0])
            else Text("목록", "a list")
        )
    if origin is dict:
        return _EXPECTED_TABLES[get_args(hint)[1]]
    if origin in (Union, types.UnionType):
        return _expected_type(get_args(hint)[0])
    return {
        bool: Text("true 또는 false", "true or false"),
        int: Text("정수", "a whole number"),
        ZoneInfo: Text("Asia/Seoul 같은 시간대", "a time zone such as Asia/Seoul"),
    }.get(hint, Text("글자", "text"))
