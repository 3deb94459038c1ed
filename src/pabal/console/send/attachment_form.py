"""The attachment of a brand message as fields of a form: each is named as the API names it in errors."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from pabal.domain.brand import limits
from pabal.domain.brand.message import BrandAttachment, BrandType
from pabal.domain.brand.rules import RULES

FIELD = re.compile(r"attachment((?:\.[a-zA-Z]{1,20}(?:\[[0-9]\])?){1,5})", re.ASCII)
_STEP = re.compile(r"\.([a-zA-Z]+)(?:\[([0-9])\])?", re.ASCII)
_INDEX = re.compile(r"\[[0-9]\]", re.ASCII)
_AMOUNTS = ("regularPrice", "discountPrice", "discountRate", "discountFixed")
_LINES = ("message", "content", "additionalContent")
_PRODUCT = tuple(f"commerce.{name}" for name in ("title", *_AMOUNTS))
_COUPON = tuple(f"coupon.{name}" for name in ("title", "description", "linkMo"))
_BUTTON = ("buttons[0].name", "buttons[0].linkMo")
_ITEM = ("title", "imageUrl", "linkMo")
_FEED = ("header", "message", "imageUrl", "imageLink", *_BUTTON)
_OFFER = (*_PRODUCT, "additionalContent", "imageUrl", "imageLink", *_BUTTON)
_HEAD = tuple(f"carousel.head.{name}" for name in ("header", "content", "imageUrl", "linkMo"))
_LISTS = {
    "item": ("item", limits.MIN_ITEMS, limits.MAX_ITEMS),
    "card": ("carousel", limits.MIN_CARDS, limits.MAX_CARDS),
}
"""Where the list of each kind of part is, and how many parts it has."""
STARTS: dict[BrandType, dict[str, Any]] = {
    BrandType.WIDE_LIST: {"item": {"list": [{} for _ in range(limits.MIN_ITEMS)]}},
    BrandType.CAROUSEL_FEED: {"carousel": {"list": [{} for _ in range(limits.MIN_CARDS)]}},
    BrandType.CAROUSEL_COMMERCE: {"carousel": {"list": [{} for _ in range(limits.MIN_CARDS)]}},
}
"""What the attachment of a type starts with: as many empty items or cards as it has at least."""
_NO_LOOK = ("header", "tail")
"""Groups that are a line or a link, and are seen well enough beside the others."""
_LIMITS = {
    "attach.header": limits.MAX_HEADER_CHARACTERS,
    "attach.additionalContent": limits.MAX_ADDITIONAL_CHARACTERS,
    "attach.commerce.title": limits.MAX_PRODUCT_CHARACTERS,
    "attach.list.title": limits.MAX_ITEM_CHARACTERS,
    "attach.list.header": limits.MAX_HEADER_CHARACTERS,
    "attach.list.message": limits.MAX_CARD_MESSAGE_CHARACTERS,
    "attach.list.additionalContent": limits.MAX_ADDITIONAL_CHARACTERS,
    "attach.buttons.name": limits.MAX_SHORT_BUTTON_NAME_CHARACTERS,
    "attach.head.header": limits.MAX_HEADER_CHARACTERS,
    "attach.head.content": limits.MAX_INTRODUCTION_CHARACTERS,
}
"""Most characters of a field, by its label."""
Tree = dict[str, Any]


class AttachmentField(NamedTuple):
    """A field of the form."""

    name: str
    label: str
    """The key of its label."""
    value: str
    is_number: bool
    is_long: bool
    limit: int = 0
    """How many characters it takes; 0: that is not what matters."""


class AttachmentGroup(NamedTuple):
    """Fields that belong together: a header, a product, a coupon, an item or a card."""

    legend: str
    """The key of its heading."""
    fields: list[AttachmentField]
    number: int = 0
    """The place of an item or a card, from 1; 0: there is only one."""
    removes: str = ""
    """The action that removes it; empty: it has to be there."""
    is_optional: bool = False

    @property
    def key(self) -> str:
        """Which part of the message its fields make, as `preview_groups` names it."""
        word = self.legend.rpartition(".")[2]
        return f"{word}-{self.number}" if self.number else word

    @property
    def has_look(self) -> bool:
        """Whether it has a preview of its own."""
        return self.key not in _NO_LOOK


def start_of(kind: BrandType) -> str:
    """Return the attachment to start a draft with; empty where the type needs none."""
    return json.dumps(STARTS[kind]) if kind in STARTS else ""


def read_attachment(typed: str) -> Any:
    """Return what was typed as JSON; what is none stays a text, which the check of fields refuses."""
    try:
        return json.loads(typed) if typed.strip() else None
    except (ValueError, RecursionError):
        return typed


def attachment_of(given: Any) -> BrandAttachment:
    """Return the attachment to preview; nothing of one that has fields of the wrong type."""
    try:
        return msgspec.convert(given or {}, BrandAttachment)
    except (msgspec.ValidationError, RecursionError):
        return BrandAttachment()


def groups_of(kind: BrandType, given: object) -> list[AttachmentGroup]:
    """Return the fields of an attachment of this type, with their values."""
    tree = given if isinstance(given, dict) else {}
    return [_group(kind, tree, legend, names, place) for legend, names, place in _parts(kind, tree)]


def next_part(kind: BrandType, given: object) -> str:
    """Return which kind of part can be added, `item` or `card`; empty: none."""
    tree = given if isinstance(given, dict) else {}
    for word, (holder, _, most) in _LISTS.items():
        if holder in RULES[kind].fields and len(_list_of(tree, holder)) < most:
            return word
    return ""


def read_fields(fields: Mapping[str, str], before: object) -> str | None:
    """Return the attachment that a form has as JSON; None where it has no such fields.

    What the form does not show stays as it was `before`.
    """
    named = {name: value for name, value in fields.items() if FIELD.fullmatch(name)}
    if not named:
        return None
    tree: Tree = before if isinstance(before, dict) else {}
    for name, value in named.items():
        _put(tree, [(step[1], step[2]) for step in _STEP.finditer(name)], _typed(name, value.strip()))
    for card in _list_of(tree, "carousel"):
        for one in card.get("buttons") or ():
            _make_link(one)
    verb, _, rest = fields.get("act", "").partition("-")
    if verb in _LISTS:
        _change_list(tree, verb, rest)
    pruned = _pruned(tree)
    return json.dumps(pruned, ensure_ascii=False) if pruned else ""


def label_of(name: str) -> str:
    """Return the key of a field's label: its name, after that of the part that it belongs to."""
    return f"attach.{'.'.join(_INDEX.sub('', name).split('.')[1:][-2:])}"


def _parts(kind: BrandType, tree: Tree) -> Iterator[tuple[str, tuple[str, ...], int]]:
    has = RULES[kind].fields
    if "header" in has:
        yield "attach.group.header", ("header",), 0
    if "video" in has:
        yield "attach.group.video", ("video.videoUrl", "video.thumbnailUrl"), 0
    if "commerce" in has:
        yield "attach.group.commerce", (*_PRODUCT, "additionalContent"), 0
    for index in range(len(_list_of(tree, "item")) if "item" in has else 0):
        yield "attach.group.item", tuple(f"item.list[{index}].{name}" for name in _ITEM), index + 1
    if "carousel" in has:
        if kind is BrandType.CAROUSEL_COMMERCE:
            yield "attach.group.head", _HEAD, 0
        own = _OFFER if kind is BrandType.CAROUSEL_COMMERCE else _FEED
        for index in range(len(_list_of(tree, "carousel"))):
            yield "attach.group.card", tuple(f"carousel.list[{index}].{name}" for name in own), index + 1
        yield "attach.group.tail", ("carousel.tail.linkMo",), 0
    if "coupon" in has:
        yield "attach.group.coupon", _COUPON, 0


def _group(kind: BrandType, tree: Tree, legend: str, names: tuple[str, ...], place: int) -> AttachmentGroup:
    shown = [_field(tree, f"attachment.{name}", _limit_of(kind, name)) for name in names]
    word = legend.rpartition(".")[2]
    removes = ""
    if word in _LISTS:
        holder, least, _ = _LISTS[word]
        removes = f"{word}-{place - 1}" if len(_list_of(tree, holder)) > least else ""
    return AttachmentGroup(legend, shown, place, removes, word in ("coupon", "head", "tail"))


def _limit_of(kind: BrandType, name: str) -> int:
    """Return how many characters a field takes; 0 where they are not counted."""
    if name == "coupon.description":
        return RULES[kind].max_coupon_characters
    if name == "item.list[0].title":
        return limits.MAX_FIRST_ITEM_CHARACTERS
    return _LIMITS.get(label_of(f"attachment.{name}"), 0)


def _field(tree: Tree, name: str, limit: int) -> AttachmentField:
    value: Any = tree
    for step in _STEP.finditer(name):
        value = value.get(step[1]) if isinstance(value, dict) else None
        if step[2]:
            place = int(step[2])
            value = value[place] if isinstance(value, list) and place < len(value) else None
    last = name.rpartition(".")[2]
    return AttachmentField(
        name, label_of(name), "" if value is None else str(value), last in _AMOUNTS, last in _LINES, limit
    )


def _list_of(tree: Tree, holder: str) -> list[Tree]:
    part = tree.get(holder)
    found = part.get("list") if isinstance(part, dict) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _typed(name: str, value: str) -> object:
    """Return an amount as a number; what is none is refused by the checks of the API."""
    bare = value.replace(",", "")
    is_amount = name.rpartition(".")[2] in _AMOUNTS and bare.isascii() and bare.isdigit() and len(bare) <= 12
    return int(bare) if is_amount else value


def _put(tree: Tree, steps: list[tuple[str, str | None]], value: object) -> None:
    """Set a value where the steps lead, making the parts on the way."""
    part: Any = tree
    for name, place in steps[:-1]:
        below = part.get(name)
        if place is None:
            below = below if isinstance(below, dict) else {}
            part[name] = below
            part = below
            continue
        below = below if isinstance(below, list) else []
        part[name] = below
        while len(below) <= int(place):
            below.append({})
        if not isinstance(below[int(place)], dict):
            below[int(place)] = {}
        part = below[int(place)]
    part[steps[-1][0]] = value


def _make_link(one: Tree) -> None:
    """Make what was typed a link, the type of button that the form has; where nothing was, there is no button."""
    if not any(value for name, value in one.items() if name != "type"):
        one.clear()
    elif "type" not in one:
        one["type"] = "WL"


def _change_list(tree: Tree, word: str, rest: str) -> None:
    """Add a part to its list, or remove one."""
    holder, _, most = _LISTS[word]
    found = _list_of(tree, holder)
    if rest == "add" and len(found) < most:
        found.append({})
    elif len(rest) == 1 and rest.isascii() and rest.isdigit() and int(rest) < len(found):
        del found[int(rest)]
    tree[holder] = {**(tree.get(holder) or {}), "list": found}


def _pruned(part: Tree) -> Tree:
    """Return a part without what is empty; items and cards stay, so that they can be filled in."""
    kept: Tree = {}
    for name, value in part.items():
        if isinstance(value, dict):
            value = _pruned(value)
        elif isinstance(value, list):
            each = [_pruned(one) if isinstance(one, dict) else one for one in value]
            value = [one for one in each if one] if name == "buttons" else each
        if value not in ("", None, {}, []):
            kept[name] = value
    return kept
