"""The envelope around every answer, success or not."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from pabal.checks.locale import Speech
from pabal.domain import dates
from pabal.domain.codes import Code, Problem
from pabal.domain.dates import Instant
from pabal.models.answers import ErrorItem

CONTENT_TYPE = b"application/json;charset=UTF-8"
_SUCCESS = {locale: Code.SUCCESS.words.in_locale(locale) for locale in ("ko", "en")}
_encoder = msgspec.json.Encoder()


def success(additions: Mapping[str, Any], now: Instant, speech: Speech) -> bytes:
    """Return the body of a good answer."""
    return _encoder.encode(
        {
            "time": dates.iso(now, speech.zone),
            "result": "SUCCESS",
            "resultMessage": _SUCCESS[speech.locale],
            "locale": speech.locale,
            **additions,
        }
    )


def refusal(problems: Sequence[Problem], now: Instant, speech: Speech) -> bytes:
    """Return the body of a no: the first problem is the result, `errors` tells them all."""
    first = problems[0]
    place = f" ({first.field})" if first.field else ""
    body: dict[str, Any] = {
        "time": dates.iso(now, speech.zone),
        "result": first.code.name,
        "resultMessage": f"{first.message(speech.locale)}{place}",
        "locale": speech.locale,
    }
    errors = [
        ErrorItem(problem.field, problem.code.name, problem.message(speech.locale))
        for problem in problems
        if problem.field
    ]
    if errors:
        body["errors"] = errors
    return _encoder.encode(body)


def paged(total: int, page: int, page_size: int, items: Sequence[Any]) -> dict[str, Any]:
    """Return what a paged list adds to the envelope."""
    return {
        "totalCount": total,
        "resultCount": len(items),
        "pageSize": page_size,
        "pageCount": -(-total // page_size),
        "currentPage": page,
        "items": items,
    }


def listed(items: Sequence[Any]) -> dict[str, Any]:
    """Return what a list adds to the envelope."""
    return {"totalCount": len(items), "resultCount": len(items), "items": items}
