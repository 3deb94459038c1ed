"""The OpenAPI 3.1 document, built from the tables of endpoints, result codes and events."""

from functools import cache
from typing import Any

import msgspec

from pabal import __version__
from pabal.web.api_document.example_bodies import EXAMPLE_BODIES
from pabal.web.api_document.responses import HEADERS, build_responses, build_webhooks
from pabal.web.api_document.schemas import build_schemas, find_referred, query_fields, refer_to
from pabal.web.endpoints.endpoint import Endpoint
from pabal.web.endpoints.table import ENDPOINTS
from pabal.web.http.call_options import MAX_IDEMPOTENCY_KEY_CHARACTERS

MAX_RECEIVERS = 1000
"""Receivers of a request, unless the operator has set another number."""
_DESCRIPTION = """\
Sends SMS, LMS, MMS, Alimtalk, friend talk and brand messages to Korean phones, and reports the result of each.

Send the header `apiKey` with every request. Every answer is the same envelope (`time`, `result`,
`resultMessage`, `locale`) plus the fields of the endpoint. `Accept-Language: en` switches from Korean to English.

A field without a value is left out, in bodies as in answers. Answers may get further fields and values at any time:
ignore what you do not know. So fields of answers have no fixed list of values here.
"""
_TAGS = {
    "Sender profiles": "KakaoTalk channels that send Alimtalk, friend talk and brand messages.",
    "Sending": "Send messages, and cancel those that wait.",
    "History": "What became of messages, and what subscribers wrote.",
    "Templates": "Texts of Alimtalk, and their review.",
    "Opt-outs": "Receivers who want no advertising.",
    "Webhooks": "Have events posted to your own server.",
    "Privacy": "Export and erase what is stored about a phone number.",
    "Testing": "Simulated phones; only where the simulator is a carrier.",
    "Events": "The posts that webhooks get, signed as the Standard Webhooks specification says.",
}


@cache
def encode_document(max_receivers: int = MAX_RECEIVERS) -> bytes:
    """Return the document as JSON; `max_receivers` is how many receivers this installation takes in a request."""
    return msgspec.json.encode(build_document(max_receivers))


def build_document(max_receivers: int = MAX_RECEIVERS) -> dict[str, Any]:
    """Return the document."""
    paths = {endpoint.path: {endpoint.method.lower(): _operation(endpoint)} for endpoint in ENDPOINTS}
    posts = build_webhooks("Events")
    used = find_referred([paths, posts])
    groups = [*dict.fromkeys(endpoint.group.en for endpoint in ENDPOINTS), "Events"]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Pabal",
            "version": __version__,
            "description": _DESCRIPTION,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": "/", "description": "The installation that serves this document."}],
        "security": [{"apiKey": []}],
        "tags": [{"name": name, "description": _TAGS[name]} for name in groups],
        "paths": paths,
        "webhooks": posts,
        "components": {
            "schemas": {
                name: _limit_receivers(schema, max_receivers)
                for name, schema in build_schemas().items()
                if name in used
            },
            "headers": HEADERS,
            "securitySchemes": {
                "apiKey": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "apiKey",
                    "description": "A key that the operator has issued: `pb_` and 40 letters and digits.",
                }
            },
        },
    }


def _limit_receivers(schema: dict[str, Any], most: int) -> dict[str, Any]:
    receivers = schema["properties"].get("receivers", {})
    if "minItems" not in receivers:
        return schema
    return {**schema, "properties": {**schema["properties"], "receivers": {**receivers, "maxItems": most}}}


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": endpoint.operation_id,
        "summary": endpoint.summary.en,
        "description": f"Requires the scope `{endpoint.scope}`.",
        "tags": [endpoint.group.en],
        "parameters": _parameters(endpoint),
        "responses": build_responses(endpoint),
    }
    if endpoint.input_source != "query":
        media = {"schema": refer_to(endpoint.body), "example": EXAMPLE_BODIES[endpoint.operation_id]}
        operation["requestBody"] = {"content": {"application/json": media}, "required": _has_required(endpoint)}
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
        longest = MAX_IDEMPOTENCY_KEY_CHARACTERS
        found.append(
            {
                "name": "Idempotency-Key",
                "in": "header",
                "description": "A repeat with the same key and body gets the first answer and sends nothing.",
                "schema": {
                    "type": "string",
                    "minLength": 1,
                    "maxLength": longest,
                    "pattern": "^[!-~]([ -~]*[!-~])?$",
                },
                "example": "order-1001-shipped",
            }
        )
        found.append(
            _truth_header("Dry-Run", "Whether to check the request only: the answer says what would happen.")
        )
    if endpoint.input_source == "query":
        examples = EXAMPLE_BODIES[endpoint.operation_id]
        for name, is_required, schema in query_fields(endpoint.body):
            parameter = {"name": name, "in": "query", "required": is_required, "schema": schema}
            parameter["description"] = schema["description"]
            found.append({**parameter, "example": examples[name]} if name in examples else parameter)
    return found


def _truth_header(name: str, description: str) -> dict[str, Any]:
    schema = {"type": "string", "enum": ["true", "false"]}
    return {"name": name, "in": "header", "schema": schema, "description": description}


def _has_required(endpoint: Endpoint) -> bool:
    return any(field.required for field in msgspec.structs.fields(endpoint.body))
