"""The OpenAPI 3.1 document, built from the tables of endpoints and result codes."""

from collections import defaultdict
from functools import cache
from typing import Any

import msgspec

from pabal import __version__
from pabal.domain.codes import Code
from pabal.models.answers import Envelope
from pabal.models.schema_names import SCHEMA_NAMES
from pabal.web.endpoint import Endpoint
from pabal.web.endpoints import ENDPOINTS

_DESCRIPTION = """\
Sends SMS, LMS, MMS, Alimtalk, friend talk and brand messages to Korean phones, and reports the result of each.

Send the header `apiKey` with every request. Every answer is the same envelope (`time`, `result`,
`resultMessage`, `locale`) plus the fields of the endpoint. `Accept-Language: en` switches from Korean to English.
"""

_REF = "#/components/schemas/{name}"


@cache
def encode_document() -> bytes:
    """Return the document as JSON."""
    return msgspec.json.encode(build_document())


def build_document() -> dict[str, Any]:
    """Return the document."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Pabal",
            "version": __version__,
            "description": _DESCRIPTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "security": [{"apiKey": []}],
        "tags": [{"name": name} for name in dict.fromkeys(endpoint.group for endpoint in ENDPOINTS)],
        "paths": {endpoint.path: {endpoint.method.lower(): _operation(endpoint)} for endpoint in ENDPOINTS},
        "components": {
            "schemas": build_schemas(),
            "securitySchemes": {"apiKey": {"type": "apiKey", "in": "header", "name": "apiKey"}},
        },
    }


@cache
def build_schemas() -> dict[str, Any]:
    """Return the schema of each body and answer by its name in the document.

    Raises KeyError for a struct that `SCHEMA_NAMES` does not name.
    """
    refs, components = msgspec.json.schema_components(SCHEMA_NAMES, ref_template=_REF)
    names = {ref["$ref"]: name for ref, name in zip(refs, SCHEMA_NAMES.values(), strict=True)}
    found = {}
    for own_name, schema in components.items():
        name = names[_REF.format(name=own_name)]
        found[name] = {**_replace_refs(schema, names), "title": name}
    return {name: found[name] for name in SCHEMA_NAMES.values()}


def _replace_refs(schema: Any, names: dict[str, str]) -> Any:
    """Return a schema whose references use the names of the document."""
    if isinstance(schema, list):
        return [_replace_refs(each, names) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _REF.format(name=names[value]) if key == "$ref" else _replace_refs(value, names)
        for key, value in schema.items()
    }


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    kind = f"Endpoint {endpoint.number} of the interface specification." if endpoint.number else "Extension."
    operation: dict[str, Any] = {
        "operationId": endpoint.operation_id,
        "summary": endpoint.summary,
        "description": f"{kind} Requires the scope `{endpoint.scope}`.",
        "tags": [endpoint.group],
        "parameters": _parameters(endpoint),
        "responses": _responses(endpoint),
    }
    if endpoint.input_source != "query":
        content = {"application/json": {"schema": _ref(endpoint.body)}}
        operation["requestBody"] = {"content": content, "required": _has_required(endpoint)}
    return operation


def _parameters(endpoint: Endpoint) -> list[dict[str, Any]]:
    language = {"type": "string", "enum": ["ko", "en"], "default": "ko"}
    found: list[dict[str, Any]] = [
        {
            "name": "Accept-Language",
            "in": "header",
            "schema": language,
            "description": "Language of the answer.",
        }
    ]
    found.append(_truth_header("Strict", "Whether unknown fields are refused, instead of named in `warnings`."))
    if endpoint.is_send:
        found.append(
            {
                "name": "Idempotency-Key",
                "in": "header",
                "description": "A repeat with the same key and body gets the first answer and sends nothing.",
                "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]([ -~]*[!-~])?$"},
            }
        )
        found.append(
            _truth_header("Dry-Run", "Whether to check the request only: the answer says what would happen.")
        )
    if endpoint.input_source == "query":
        shape = build_schemas()[SCHEMA_NAMES[endpoint.body]]
        for name, property in shape["properties"].items():
            found.append(
                {
                    "name": name,
                    "in": "query",
                    "required": name in shape["required"],
                    "schema": _without_null(property),
                    **({"description": property["description"]} if "description" in property else {}),
                }
            )
    return found


def _truth_header(name: str, description: str) -> dict[str, Any]:
    schema = {"type": "string", "enum": ["true", "false"]}
    return {"name": name, "in": "header", "schema": schema, "description": description}


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema without null, which a query string cannot contain."""
    shortened = {name: value for name, value in schema.items() if not (name == "default" and value is None)}
    if "anyOf" in shortened:
        shortened["anyOf"] = [option for option in shortened["anyOf"] if option != {"type": "null"}]
        if len(shortened["anyOf"]) == 1:
            shortened |= shortened.pop("anyOf")[0]
    return shortened


def _responses(endpoint: Endpoint) -> dict[str, Any]:
    by_status: defaultdict[int, list[Code]] = defaultdict(list)
    for code in endpoint.codes:
        by_status[code.http_status].append(code)
    return {
        str(status): {
            "description": " ".join(f"`{code.name}`: {code.text.en}" for code in codes),
            "content": {"application/json": {"schema": _ref(endpoint.answer if status == 200 else Envelope)}},
        }
        for status, codes in sorted(by_status.items())
    }


def _has_required(endpoint: Endpoint) -> bool:
    return any(field.required for field in msgspec.structs.fields(endpoint.body))


def _ref(shape: type[msgspec.Struct]) -> dict[str, str]:
    return {"$ref": _REF.format(name=SCHEMA_NAMES[shape])}
