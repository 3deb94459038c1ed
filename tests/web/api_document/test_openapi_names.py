"""The names in the OpenAPI document never change: clients are generated from them."""

import json
import re
from pathlib import Path
from typing import Any

from pabal.web.api_document.openapi import build_document

NAMES = Path(__file__).parent / "openapi_names.json"
"""The document without descriptions: paths, operation ids, schemas, fields and codes."""


def without_descriptions(part: Any) -> Any:
    """Return the document without descriptions and summaries; responses keep their codes."""
    if isinstance(part, list):
        return [without_descriptions(each) for each in part]
    if not isinstance(part, dict):
        return part
    found = {key: without_descriptions(value) for key, value in part.items() if not _is_description(key, value)}
    if "content" in part and "description" in part:
        found["codes"] = re.findall(r"`([A-Z_]+)`:", part["description"])
    return found


def _is_description(key: str, value: Any) -> bool:
    return key in ("description", "summary") and isinstance(value, str)


def test_openapi_names_are_unchanged() -> None:
    names = without_descriptions(build_document())
    del names["info"]["version"]

    assert names == json.loads(NAMES.read_text(encoding="utf-8"))
