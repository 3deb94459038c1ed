"""The schemas of the OpenAPI document: those of the bodies and answers, as generators of clients like them.

A field that may be absent is just not required: it has no `null` among its types and no default, since generators
make a field with a default required. Null in a body is the same as absent all the same.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec

from pabal.domain.base.codes import Text
from pabal.models import KOREAN
from pabal.models.descriptions import DESCRIPTIONS
from pabal.models.schema_details import CONSTRAINTS, KOREAN_DESCRIPTIONS, SCHEMA_NAMES
from pabal.web.endpoints.table import ENDPOINTS

Schema = dict[str, Any]

_REF = "#/components/schemas/{name}"
_NULL = {"type": "null"}


@cache
def build_schemas(language: str = "en") -> dict[str, Schema]:
    """Return the schema of each body and answer by its name in the document, described in a language.

    Raises KeyError for a struct that `SCHEMA_NAMES` does not name, and for a field without a description.
    """
    found: dict[str, Schema] = pick_language(_schemas_with_defaults(), language)
    return {
        name: {**schema, "properties": {field: _without_default(of) for field, of in schema["properties"].items()}}
        for name, schema in found.items()
    }


def pick_language(part: Any, language: str) -> Any:
    """Return a part of the document with each `Text` in it as its string in a language."""
    if isinstance(part, Text):
        return part.in_language(language)
    if isinstance(part, dict):
        return {key: pick_language(value, language) for key, value in part.items()}
    return [pick_language(each, language) for each in part] if isinstance(part, list) else part


def query_fields(body: type[msgspec.Struct]) -> Iterator[tuple[str, bool, Schema]]:
    """Yield name, whether it is required, and schema of each parameter of a query string; texts are `Text`."""
    schema = _schemas_with_defaults()[SCHEMA_NAMES[body]]
    for name, of in schema["properties"].items():
        yield name, name in schema["required"], of


def refer_to(shape: type[msgspec.Struct]) -> dict[str, str]:
    """Return the reference to the schema of a body or an answer."""
    return {"$ref": _REF.format(name=SCHEMA_NAMES[shape])}


def find_referred(part: Any) -> set[str]:
    """Return the names of the schemas that a part of the document uses, also by way of others."""
    found: set[str] = set()
    left = _refs_in(part)
    while left:
        found |= left
        left = set().union(*(_refs_in(build_schemas()[name]) for name in left)) - found
    return found


def _refs_in(part: Any) -> set[str]:
    if isinstance(part, list):
        return set().union(*map(_refs_in, part))
    if not isinstance(part, dict):
        return set()
    ref = str(part.get("$ref", ""))
    own = {ref.rpartition("/")[2]} if ref.startswith(_REF.format(name="")) else set()
    return own.union(*map(_refs_in, part.values()))


@cache
def _schemas_with_defaults() -> dict[str, Schema]:
    refs, components = msgspec.json.schema_components(SCHEMA_NAMES, ref_template=_REF)
    names = {ref["$ref"]: name for ref, name in zip(refs, SCHEMA_NAMES.values(), strict=True)}
    raw = {
        names[_REF.format(name=own_name)]: _replace_refs(schema, names) for own_name, schema in components.items()
    }
    limited = _names_of_bodies(raw)
    found = {}
    for shape, name in SCHEMA_NAMES.items():
        fields = {}
        for field, of in raw[name]["properties"].items():
            fields[field] = _field(shape, field, of, is_limited=name in limited)
        text = Text(KOREAN_DESCRIPTIONS[shape], raw[name]["description"])
        found[name] = {**raw[name], "title": name, "description": text, "properties": fields}
    return found


def _names_of_bodies(raw: dict[str, Schema]) -> set[str]:
    """Return the names of the bodies, and of what is in them."""
    found: set[str] = set()
    left = {SCHEMA_NAMES[endpoint.body] for endpoint in ENDPOINTS}
    while left:
        found |= left
        left = set().union(*(_refs_in(raw[name]) for name in left)) - found
    return found


def _field(shape: type[msgspec.Struct], name: str, of: Schema, *, is_limited: bool) -> Schema:
    """Return the schema of a field with its description, and if it is one of a body with its limits."""
    field = _without_null(of)
    if "enum" in field:
        field = {"type": "string", **field}
    if is_limited:
        limits = CONSTRAINTS.get(f"{SCHEMA_NAMES[shape]}.{name}") or CONSTRAINTS.get(name) or {}
        if "items" in limits and "items" in field:
            limits = {**limits, "items": {**field["items"], **limits["items"]}}
        field = {**field, **limits}
    text = _describe(shape, name, field)
    return {**{key: value for key, value in field.items() if key != KOREAN}, "description": text}


def _describe(shape: type[msgspec.Struct], name: str, field: Schema) -> Text:
    """Return the description of a field: from the table for this schema, from its type, or from the table for any.

    Raises KeyError for a field without one.
    """
    schemas = (SCHEMA_NAMES.get(each) for each in shape.__mro__)
    of_schema = next((DESCRIPTIONS[key] for each in schemas if (key := f"{each}.{name}") in DESCRIPTIONS), None)
    of_type = Text(field[KOREAN], field["description"]) if KOREAN in field else None
    given = [each for each in (of_schema, of_type) if each] or [DESCRIPTIONS[name]]
    ko, en = given[0]
    for each in given[1:]:
        ko, en = f"{ko}{'' if ko.endswith(':') else '.'} {each.ko}", f"{en} {each.en}"
    default = field.get("default")
    return Text(ko, en) if default in (None, []) else Text(f"{ko}. 기본값: {default}", f"{en} Default: {default}.")


def _without_null(field: Schema) -> Schema:
    """Return a schema that says nothing of null, which is the same as absent."""
    found = {name: value for name, value in field.items() if not (name == "default" and value is None)}
    if "anyOf" in found:
        options = [option for option in found.pop("anyOf") if option != _NULL]
        found = {**options[0], **found} if len(options) == 1 else {**found, "anyOf": options}
    return found


def _without_default(field: Schema) -> Schema:
    return {name: value for name, value in field.items() if name != "default"}


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
