"""What an Alimtalk template may have beside its text: header, item list, representative link, quick replies."""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from pabal.domain.content import text, variables
from pabal.domain.content.button import Button, fill_button, from_fields, links_of

MAX_HEADER_CHARACTERS = 16
MIN_ITEMS = 2
MAX_ITEMS = 10
MAX_ITEM_TITLE_CHARACTERS = 6
MAX_ITEM_CHARACTERS = 23
MAX_SUMMARY_CHARACTERS = 14
MAX_HIGHLIGHT_TITLE_CHARACTERS = 30
MAX_HIGHLIGHT_CHARACTERS = 19
MAX_THUMBNAIL_TITLE_CHARACTERS = 21
"""Longest title of a highlight that has a thumbnail."""
MAX_THUMBNAIL_CHARACTERS = 13
"""Longest description of a highlight that has a thumbnail."""
MAX_CONTENT_CHARACTERS_WITH_ITEMS = 700
MAX_QUICK_REPLIES = 5
MAX_BUTTONS_WITH_QUICK_REPLIES = 2
QUICK_REPLY_TYPES = ("webLink", "appLink", "botKeyword", "counselingTalkConversion", "botConversion")
REPRESENT_LINK_TYPE = "representLink"
"""The type of the button that holds a representative link; no message shows it."""
_CURRENCY_WORDS = re.compile("[A-Z]{3}|원|엔|위안|달러|유로")
_AMOUNT_CHARACTERS = frozenset("0123456789., ")


class ItemEntry(NamedTuple):
    """A line of an item list, or its summary."""

    title: str
    description: str


class ItemHighlight(NamedTuple):
    """What is emphasized above an item list."""

    title: str
    description: str
    image_url: str | None = None
    """The address of its thumbnail, if it has one."""

    @property
    def max_title_characters(self) -> int:
        return MAX_THUMBNAIL_TITLE_CHARACTERS if self.image_url else MAX_HIGHLIGHT_TITLE_CHARACTERS

    @property
    def max_characters(self) -> int:
        return MAX_THUMBNAIL_CHARACTERS if self.image_url else MAX_HIGHLIGHT_CHARACTERS


class TemplateParts(NamedTuple):
    """The parts of a template, or of one message, whose variables are filled in."""

    header: str | None = None
    highlight: ItemHighlight | None = None
    items: tuple[ItemEntry, ...] = ()
    summary: ItemEntry | None = None
    link: Button | None = None
    """The representative link, which a tap on the message opens."""
    quick_replies: tuple[Button, ...] = ()

    @property
    def has_any(self) -> bool:
        return self != NO_PARTS

    @property
    def buttons(self) -> tuple[Button, ...]:
        """What has links: quick replies and the representative link."""
        return (*self.quick_replies, self.link) if self.link else self.quick_replies

    @property
    def limited_texts(self) -> list[tuple[str, int]]:
        """Each text that may have variables, and its limit in characters."""
        found: list[tuple[str, int]] = []
        if self.header:
            found.append((self.header, MAX_HEADER_CHARACTERS))
        if self.highlight:
            found.append((self.highlight.title, self.highlight.max_title_characters))
            found.append((self.highlight.description, self.highlight.max_characters))
        found += [(each.description, MAX_ITEM_CHARACTERS) for each in self.items]
        if self.summary:
            found.append((self.summary.description, MAX_SUMMARY_CHARACTERS))
        return found

    @property
    def texts(self) -> Iterator[str]:
        """Every text and link that may have variables, in the order in which they are shown."""
        yield from (each for each, _ in self.limited_texts)
        yield from links_of(self.buttons)


NO_PARTS = TemplateParts()


def represent_link(links: Mapping[str, str]) -> Button | None:
    """Return the representative link with these addresses, by field; None if there are none."""
    return Button(REPRESENT_LINK_TYPE, "", **links) if links else None  # type: ignore[arg-type]


def fill_parts(parts: TemplateParts, names: Sequence[str], values: Sequence[str]) -> TemplateParts:
    """Return the parts of one receiver, with variables filled in.

    Raises Refused as `fill_button` does.
    """
    if not values:
        return parts
    given = dict(zip(names, values, strict=True))

    def fill(template: str) -> str:
        return text.normalize(variables.fill(template, given))

    highlight, summary = parts.highlight, parts.summary
    return TemplateParts(
        fill(parts.header) if parts.header else None,
        highlight._replace(title=fill(highlight.title), description=fill(highlight.description))
        if highlight
        else None,
        tuple(each._replace(description=fill(each.description)) for each in parts.items),
        summary._replace(description=fill(summary.description)) if summary else None,
        fill_button(parts.link, given) if parts.link else None,
        tuple(fill_button(each, given) for each in parts.quick_replies),
    )


def is_amount(description: str) -> bool:
    """Return whether a summary consists of digits, punctuation of numbers, and currencies, as Kakao requires."""
    rest = _CURRENCY_WORDS.sub("", description)
    return all(each in _AMOUNT_CHARACTERS or unicodedata.category(each) == "Sc" for each in rest)


def encode_parts(parts: TemplateParts) -> str | None:
    """Return parts as the store keeps them; None where there are none."""
    return json.dumps(to_fields(parts), ensure_ascii=False) if parts.has_any else None


def decode_parts(stored: str | None) -> TemplateParts:
    """Return the parts that `encode_parts` wrote."""
    return parts_from_fields(json.loads(stored)) if stored else NO_PARTS


def to_fields(parts: TemplateParts) -> dict[str, object]:
    """Return the given parts as plain values."""
    fields: dict[str, object] = {
        "header": parts.header,
        "highlight": list(parts.highlight) if parts.highlight else None,
        "items": [list(each) for each in parts.items],
        "summary": list(parts.summary) if parts.summary else None,
        "link": parts.link.given_fields() if parts.link else None,
        "quick_replies": [each.given_fields() for each in parts.quick_replies],
    }
    return {name: value for name, value in fields.items() if value}


def parts_from_fields(fields: Mapping[str, object]) -> TemplateParts:
    """Return the parts that `to_fields` wrote."""
    given: dict[str, object] = dict(fields)
    for name, make in (("highlight", ItemHighlight), ("summary", ItemEntry)):
        if name in given:
            given[name] = make(*given[name])  # type: ignore[misc]
    given["items"] = tuple(ItemEntry(*each) for each in given.get("items", ()))  # type: ignore[attr-defined]
    if "link" in given:
        (given["link"],) = from_fields([given["link"]])  # type: ignore[list-item]
    given["quick_replies"] = from_fields(given.get("quick_replies", ()))  # type: ignore[arg-type]
    return TemplateParts(**given)  # type: ignore[arg-type]
