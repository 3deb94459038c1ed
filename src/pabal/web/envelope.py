"""The envelope around every answer, success or refusal."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from pabal.checks.body.locale import Locale
from pabal.domain.base import dates
from pabal.domain.base.codes import Code, Problem
from pabal.domain.base.dates import Instant
from pabal.domain.sends.field_warning import FieldWarning
from pabal.models.answers import ErrorItem, WarningItem

CONTENT_TYPE = b"application/json;charset=UTF-8"
_SUCCESS = {locale: Code.SUCCESS.text.in_language(locale) for locale in ("ko", "en")}
_encoder = msgspec.json.Encoder()


def encode_success(fields: Mapping[str, Any], now: Instant, locale: Locale) -> bytes:
    """Return the body of a successful answer."""
    return _encoder.encode(
        {
            "time": dates.format_iso(now, locale.zone),
            "result": "SUCCESS",
            "resultMessage": _SUCCESS[locale.language],
            "locale": locale.language,
            **fields,
        }
    )


def add_warnings(fields: Mapping[str, Any], warnings: Sequence[FieldWarning], locale: Locale) -> dict[str, Any]:
    """Return the fields of an answer with its warnings."""
    return {**fields, "warnings": [build_warning(each, locale) for each in warnings]}


def build_warning(warning: FieldWarning, locale: Locale) -> WarningItem:
    """Return the record of a warning."""
    return WarningItem(warning.field, warning.code.name, warning.message(locale.language))


def encode_refusal(problems: Sequence[Problem], now: Instant, locale: Locale) -> bytes:
    """Return the body of a refusal: `result` is the first problem's code, `errors` lists all that have a field."""
    first = problems[0]
    place = f" ({first.field})" if first.field else ""
    body: dict[str, Any] = {
        "time": dates.format_iso(now, locale.zone),
        "result": first.code.name,
        "resultMessage": f"{first.message(locale.language)}{place}",
        "locale": locale.language,
    }
    errors = [
        ErrorItem(problem.field, problem.code.name, problem.message(locale.language))
        for problem in problems
        if problem.field
    ]
    if errors:
        body["errors"] = errors
    return _encoder.encode(body)


def page_fields(total: int, page: int, page_size: int, items: Sequence[Any]) -> dict[str, Any]:
    """Return the fields that a paged list adds to the envelope."""
    return {
        "totalCount": total,
        "resultCount": len(items),
        "pageSize": page_size,
        "pageCount": -(-total // page_size),
        "currentPage": page,
        "items": items,
    }


def followed_fields(position: Any, items: Sequence[Any]) -> dict[str, Any]:
    """Return the fields that a list with a cursor adds to the envelope."""
    return {"item": position, "resultCount": len(items), "items": items}


def list_fields(items: Sequence[Any]) -> dict[str, Any]:
    """Return the fields that a list adds to the envelope."""
    return {"totalCount": len(items), "resultCount": len(items), "items": items}
