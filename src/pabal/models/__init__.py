"""Bodies and answers of the HTTP API, each field described in both languages."""

from typing import Any

from msgspec import Meta

KOREAN = "x-ko"
"""The key of the Korean description in a schema; the OpenAPI document leaves it out."""


def describe(ko: str, en: str, **details: Any) -> Meta:
    """Return the description of a field; `details` are those of msgspec."""
    return Meta(description=en, extra_json_schema={KOREAN: ko}, **details)
