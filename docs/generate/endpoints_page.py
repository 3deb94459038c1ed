"""The reference of the endpoints and their schemas."""

from typing import Any

import msgspec

from docs.generate.markdown import GENERATED_NOTE, join_lines, link_code, link_codes, make_anchor, make_table
from pabal.domain.codes import Code
from pabal.models.answers import Envelope
from pabal.models.schema_names import SCHEMA_NAMES
from pabal.models.webhook_posts import POSTS
from pabal.web.api_document.schemas import build_schemas
from pabal.web.endpoint import COMMON_CODES, Endpoint
from pabal.web.endpoints import ENDPOINTS

Schema = dict[str, Any]

# Required although their schemas do not say so, because they have two names.
REQUIRED = {"ListMessages.receivers"}

# Tables of values, by schema and field, else by the field alone.
LINKS = {
    "ListMessages.messageProductType": "See [Kinds of message](result-codes.md#kinds-of-message).",
    "ListMessages.sendingStatus": "See [Statuses](result-codes.md#statuses).",
    "resultCode": "See [Result codes](result-codes.md).",
}


def endpoints_page() -> str:
    """Return the reference of every endpoint."""
    lines = [
        "# Endpoints",
        GENERATED_NOTE,
        "Send the header `apiKey` with every request. Bodies are JSON (`Content-Type: application/json`).",
        "Unknown fields are ignored; null is the same as absent. Dates are in the service's time zone.",
        "A running service shows this reference at `/docs`, and as an OpenAPI 3.1 document at `/openapi.json`.",
        "",
        "Every answer is this envelope; if the call succeeds, the endpoint adds its own fields. Fields without a",
        "value are left out.",
        "",
        *_fields_table(_schema(Envelope), "Envelope"),
        "",
        f"Every endpoint may answer {link_codes(COMMON_CODES)}.",
        f"An unknown path answers {link_code(Code.NOT_FOUND)}.",
        "",
        *make_table(
            ("Endpoint", "Scope", "What it does"),
            [
                (f"[{each.method} {each.path}](#{make_anchor(each)})", f"`{each.scope}`", each.summary)
                for each in ENDPOINTS
            ],
        ),
    ]
    for group in dict.fromkeys(endpoint.group for endpoint in ENDPOINTS):
        lines += ["", f"## {group}"]
        for endpoint in ENDPOINTS:
            if endpoint.group == group:
                lines += _endpoint(endpoint)
    lines += ["", "## Events", "", *_events()]
    lines += ["", "## Objects", "", "Objects inside bodies, answers and posts."]
    for name, schema in _inner_schemas().items():
        lines += ["", f"### {name}", "", schema["description"], "", *_fields_table(schema, name)]
    return join_lines(lines)


def _endpoint(endpoint: Endpoint) -> list[str]:
    kind = f"Endpoint {endpoint.number} of the interface specification." if endpoint.number else "Extension."
    where = {
        "body": "Fields of the body:",
        "query": "Parameters of the query string:",
        "anywhere": "Fields, in the JSON body, the query string or a form:",
    }[endpoint.input_source]
    body = _schema(endpoint.body)
    lines = ["", f"### {endpoint.method} {endpoint.path}", ""]
    lines += [f"{endpoint.summary}. {kind} Scope `{endpoint.scope}`."]
    if endpoint.is_send:
        lines += ["Supports [`Idempotency-Key`](../how-to/idempotency.md) and [`Dry-Run`](../how-to/dry-run.md)."]
    lines += (
        ["", where, "", *_fields_table(body, SCHEMA_NAMES[endpoint.body])]
        if body["properties"]
        else ["", "No fields."]
    )
    added = _added(endpoint.answer)
    if added["properties"]:
        lines += ["", "Answer:", "", *_fields_table(added, SCHEMA_NAMES[endpoint.answer], is_short=True)]
    else:
        lines += ["", "Answer: only the envelope."]
    own = [code for code in endpoint.codes if code not in COMMON_CODES]
    if own:
        lines += ["", f"Codes: {link_codes(own)}."]
    return lines


def _events() -> list[str]:
    """Return the table of the events that are posted to webhooks."""
    rows = []
    for event, post in POSTS.items():
        item = _type(_schema(_data_of(post))["properties"]["items"]).removeprefix("array of ")
        rows.append((f"`{event.code}`", item, _schema(post)["description"]))
    return ["What [webhooks](../how-to/webhooks.md) get.", "", *make_table(("Event", "Items", "When"), rows)]


def _data_of(post: type[msgspec.Struct]) -> type[msgspec.Struct]:
    found: type[msgspec.Struct] = next(each.type for each in msgspec.structs.fields(post) if each.name == "data")
    return found


def _added(answer: type[msgspec.Struct]) -> Schema:
    """Return an answer's schema without the fields of the envelope."""
    schema = _schema(answer)
    shared = set(_schema(Envelope)["properties"])
    return {**schema, "properties": {name: of for name, of in schema["properties"].items() if name not in shared}}


def _inner_schemas() -> dict[str, Schema]:
    """Return the objects inside bodies and answers by name, in alphabetical order."""
    outer = {SCHEMA_NAMES[shape] for one in ENDPOINTS for shape in (one.body, one.answer)} | {"Envelope"}
    for post in POSTS.values():
        outer |= {SCHEMA_NAMES[post], SCHEMA_NAMES[_data_of(post)]}
    return {name: schema for name, schema in sorted(build_schemas().items()) if name not in outer}


def _schema(shape: type[msgspec.Struct]) -> Schema:
    found: Schema = build_schemas()[SCHEMA_NAMES[shape]]
    return found


def _fields_table(schema: Schema, shape: str, *, is_short: bool = False) -> list[str]:
    """Return the table of a schema's fields; the short one does not say which are always present."""
    always = "Always" if _is_answer(shape) else "Required"
    rows = [
        (f"`{name}`", _type(of), "yes" if _is_required(schema, shape, name) else "no", _meaning(shape, name, of))
        for name, of in schema["properties"].items()
    ]
    if is_short:
        return make_table(("Field", "Type", "Meaning"), [(name, kind, meaning) for name, kind, _, meaning in rows])
    return make_table(("Field", "Type", always, "Meaning"), rows)


def _is_required(schema: Schema, shape: str, field: str) -> bool:
    return field in schema["required"] or f"{shape}.{field}" in REQUIRED


def _is_answer(shape: str) -> bool:
    return shape.endswith(("Item", "Envelope", "Counts")) or shape in ("Labelled", "CategoryRef")


def _type(of: Schema) -> str:
    if "$ref" in of:
        name = of["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if of["type"] == "array":
        return f"array of {_type(of['items'])}"
    return str(of["type"])


def _meaning(shape: str, field: str, of: Schema) -> str:
    """Return the description of a field, and a link to its values if they have a table of their own."""
    link = LINKS.get(f"{shape}.{field}") or LINKS.get(field)
    return f"{of['description']} {link}" if link else str(of["description"])
