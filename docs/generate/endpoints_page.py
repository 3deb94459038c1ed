"""The reference of the endpoints and their schemas."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from docs.generate.endpoint_words import WORDS
from docs.generate.markdown import GENERATED_NOTE, join_lines, link_code, link_codes, make_anchor, make_table
from pabal.domain.base.codes import Code
from pabal.models.answers import Envelope
from pabal.models.schema_details import SCHEMA_NAMES
from pabal.models.webhook_posts import POSTS
from pabal.web.api_document.schemas import build_schemas
from pabal.web.endpoints.endpoint import COMMON_CODES, Endpoint
from pabal.web.endpoints.table import ENDPOINTS

Schema = dict[str, Any]

# Required although their schemas do not say so, because they have two names.
REQUIRED = {"ListMessages.receivers"}

# Tables of values, by schema and field, else by the field alone.
LINKS = {
    "ListMessages.messageProductType": "see_kinds",
    "ListMessages.sendingStatus": "see_statuses",
    "resultCode": "see_results",
}


def endpoints_page(language: str) -> str:
    """Return the reference of every endpoint."""
    return join_lines(list(_Reference(language).lines()))


@dataclass
class _Reference:
    """The reference in a language."""

    language: str

    def lines(self) -> Iterator[str]:
        yield from (self._word("title"), GENERATED_NOTE)
        yield from (self._word("key"), self._word("unknown"), self._word("document"), "")
        yield from (self._word("envelope"), "", *self._fields_table(self._schema(Envelope), "Envelope"), "")
        yield self._word("every", codes=link_codes(COMMON_CODES))
        yield from (self._word("no_path", code=link_code(Code.NOT_FOUND)), "", *self._endpoints_table())
        for group in dict.fromkeys(endpoint.group for endpoint in ENDPOINTS):
            yield from ("", f"## {group.in_language(self.language)}")
            for endpoint in ENDPOINTS:
                if endpoint.group == group:
                    yield from self._endpoint(endpoint)
        yield from ("", self._word("events"), "", *self._events())
        yield from ("", self._word("objects"), "", self._word("inside"))
        for name, schema in _inner_schemas(self.language).items():
            yield from ("", f"### {name}", "", schema["description"], "")
            yield from self._fields_table(schema, name)

    def _word(self, name: str, **values: object) -> str:
        return WORDS[name].in_language(self.language).format(**values)

    def _schema(self, shape: type[msgspec.Struct]) -> Schema:
        found: Schema = build_schemas(self.language)[SCHEMA_NAMES[shape]]
        return found

    def _added(self, answer: type[msgspec.Struct]) -> Schema:
        """Return an answer's schema without the fields of the envelope."""
        schema = self._schema(answer)
        shared = set(self._schema(Envelope)["properties"])
        return {
            **schema,
            "properties": {name: of for name, of in schema["properties"].items() if name not in shared},
        }

    def _endpoints_table(self) -> list[str]:
        rows = [
            (
                f"[{each.method} {each.path}](#{make_anchor(each)})",
                f"`{each.scope}`",
                each.summary.in_language(self.language),
            )
            for each in ENDPOINTS
        ]
        return make_table((self._word("endpoint"), self._word("scope"), self._word("does")), rows)

    def _endpoint(self, endpoint: Endpoint) -> Iterator[str]:
        yield from ("", f"### {endpoint.method} {endpoint.path}", "")
        yield f"{endpoint.summary.in_language(self.language)}. {self._word('scope')} `{endpoint.scope}`."
        if endpoint.is_send:
            yield self._word("supports")
        body, added = self._schema(endpoint.body), self._added(endpoint.answer)
        if body["properties"]:
            yield from ("", self._word(endpoint.input_source), "")
            yield from self._fields_table(body, SCHEMA_NAMES[endpoint.body])
        else:
            yield from ("", self._word("no_fields"))
        if added["properties"]:
            yield from ("", self._word("answer"), "")
            yield from self._fields_table(added, SCHEMA_NAMES[endpoint.answer], is_short=True)
        else:
            yield from ("", self._word("only_envelope"))
        own = [code for code in endpoint.codes if code not in COMMON_CODES]
        if own:
            yield from ("", self._word("codes", codes=link_codes(own)))

    def _events(self) -> list[str]:
        """Return the table of the events that are posted to webhooks."""
        rows = []
        for event, post in POSTS.items():
            item = self._type(self._schema(_data_of(post))["properties"]["items"]["items"])
            rows.append((f"`{event.code}`", item, self._schema(post)["description"]))
        head = (self._word("event"), self._word("items"), self._word("when"))
        return [self._word("of_webhooks"), "", *make_table(head, rows)]

    def _fields_table(self, schema: Schema, shape: str, *, is_short: bool = False) -> list[str]:
        """Return the table of a schema's fields; the short one does not say which are always present."""
        yes, no = self._word("yes"), self._word("no")
        rows = [
            (
                f"`{name}`",
                self._type(of),
                yes if _is_required(schema, shape, name) else no,
                self._meaning(shape, name, of),
            )
            for name, of in schema["properties"].items()
        ]
        first, last = (self._word("field"), self._word("type")), self._word("meaning")
        if is_short:
            return make_table((*first, last), [(name, kind, meaning) for name, kind, _, meaning in rows])
        return make_table((*first, self._word("always" if _is_answer(shape) else "required"), last), rows)

    def _type(self, of: Schema) -> str:
        if "$ref" in of:
            name = of["$ref"].rpartition("/")[2]
            return f"[{name}](#{name.lower()})"
        if of["type"] == "array":
            return self._word("array", item=self._type(of["items"]))
        return str(of["type"])

    def _meaning(self, shape: str, name: str, of: Schema) -> str:
        """Return the description of a field, and a link to its values if they have a table of their own."""
        said = str(of["description"])
        link = LINKS.get(f"{shape}.{name}") or LINKS.get(name)
        if not link:
            return said
        return f"{said.rstrip('.')}. {self._word(link)}"


def _data_of(post: type[msgspec.Struct]) -> type[msgspec.Struct]:
    found: type[msgspec.Struct] = next(each.type for each in msgspec.structs.fields(post) if each.name == "data")
    return found


def _inner_schemas(language: str) -> dict[str, Schema]:
    """Return the objects inside bodies and answers by name, in alphabetical order."""
    outer = {SCHEMA_NAMES[shape] for one in ENDPOINTS for shape in (one.body, one.answer)} | {"Envelope"}
    for post in POSTS.values():
        outer |= {SCHEMA_NAMES[post], SCHEMA_NAMES[_data_of(post)]}
    return {name: schema for name, schema in sorted(build_schemas(language).items()) if name not in outer}


def _is_required(schema: Schema, shape: str, name: str) -> bool:
    return name in schema["required"] or f"{shape}.{name}" in REQUIRED


def _is_answer(shape: str) -> bool:
    return shape.endswith(("Item", "Envelope", "Counts")) or shape in ("Labelled", "CategoryRef")
