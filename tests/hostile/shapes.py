"""Shapes of bodies for the search of the most expensive one: genes, and the bodies that they stand for."""

import json
from collections.abc import Mapping
from random import Random
from typing import Any

from tests.fixtures.brand_bodies import brand_body, card_of_feed, typed_body
from tests.fixtures.web import alimtalk_body, friendtalk_body, image_body, sms_body, template_body

Genes = dict[str, Any]

_DIFFERENT = "".join(map(chr, range(ord("가"), ord("가") + 2000)))
"""Every character once, so that nothing is gained by remembering some."""
PLAIN_TEMPLATE = "PLAIN"
"""The code of a template without variables."""
MAX_CONTENT_CHARACTERS = 9000
"""Of the variables in a text: with a literal it may exceed the limit, but not by far."""

_COMMON: dict[str, tuple[Any, ...]] = {
    "unknown_fields": (0, 3000),
    "nesting": (0, 400),
    "numbers": (0, 5000),
    "wrong_type": ("", "sendDate", "content", "buttons", "receivers"),
    "is_escaped": (False, True),
}
"""What any body may have; the first choice of each is harmless."""

SEND_GENES: dict[str, tuple[Any, ...]] = {
    **_COMMON,
    "receivers": (1000, 1, 10, 300, 1001, 4000),
    "has_own_texts": (False, True),
    "names": (1, 0, 20, 200),
    "repeats": (1, 5, 250),
    "name_characters": (1, 200, 4000),
    "literal": ("", "x" * 500, "가" * 900, "😀" * 300, "가" * 9000, "x\u0301" * 400, f"{_DIFFERENT}😀"),
    "value": (
        *("x", "", "가", "x" * 300, "가" * 9000, f"{_DIFFERENT}😀", "😀", "\u0301", "\u11ab"),
        *(1, 1.5, True, None, [], {"a": []}),
    ),
    "key": ("", "#", "decomposed", "absent"),
    "more_keys": (0, 20, 300),
    "phone": ("good", "spelled", "bad", "blank", "long"),
    "reference": ("", "x" * 64, "x" * 2000),
    "buttons": (0, 1, 5, 3000),
    "link": ("https://a/", "https://a/#{n0}", "#{n0}", "#{n0}://x", "https://" + "#{n0}" * 100, "#{n0}" * 490),
    "fallback": ("", "#{n0}" * 200, "가" * 3000),
    "image_bytes": (0, 1000, 60_000),
    "attachment": ("", "buttons", "template", "many cards", "long cards", "many items"),
}
"""What differs between sends."""

FIELD_GENES: dict[str, tuple[Any, ...]] = {
    **_COMMON,
    "characters": (1, 20, 1000, 10_000, 300_000),
    "alphabet": ("x", "가", "😀", " ", "0", "#{a}", "\u0301", "\u0000", "\n", "/", "{", "2026-11-15~", "%"),
    "fields": (1, 2, 100),
    "items": (0, 5, 3000),
}
"""What differs between bodies without receivers."""


def random_genes(choices: Mapping[str, tuple[Any, ...]], rng: Random) -> Genes:
    """Return any shape, of which about half is harmless: else the first error would hide the rest."""
    return {name: rng.choice(values if rng.random() < 0.5 else values[:1]) for name, values in choices.items()}


def mutate(genes: Genes, choices: Mapping[str, tuple[Any, ...]], rng: Random) -> Genes:
    """Return a shape that differs in one or two genes."""
    changed = rng.sample(sorted(choices), rng.randint(1, 2))
    return genes | {name: rng.choice(choices[name]) for name in changed}


def build_send(operation: str, sender_key: str, genes: Genes, max_bytes: int) -> tuple[bytes, int]:
    """Return the body of a send, with as many receivers as fit, and their number."""
    one, three = (len(_encode(_send_body(operation, sender_key, genes, few), genes)) for few in (1, 3))
    count = max(1, min(int(genes["receivers"]), (max_bytes - one) * 2 // max(1, three - one)))
    return _encode(_send_body(operation, sender_key, genes, count), genes), count


def build_fields(fields: Mapping[str, Any], genes: Genes, max_bytes: int) -> bytes:
    """Return the body of another endpoint, with some of its fields replaced."""
    return _encode(change_fields(fields, genes, max_bytes), genes)


def change_fields(fields: Mapping[str, Any], genes: Genes, max_bytes: int) -> dict[str, Any]:
    """Return the fields with the first of them replaced by long texts, and with lists of many items."""
    long = _text(genes, max_bytes // 4)
    body = dict(fields)
    for name in list(body)[: genes["fields"]]:
        if isinstance(body[name], str):
            body[name] = long
    for name, value in body.items():
        if isinstance(value, list) and value and isinstance(value[0], str) and genes["items"]:
            body[name] = [long[:100]] * min(genes["items"], max_bytes // 100)
    if "buttons" in body:
        body["buttons"] = [{"name": long[:100], "mobileUrl": long[:2000]}] * min(genes["items"], max_bytes // 3000)
    return body


def _text(genes: Genes, max_characters: int) -> str:
    alphabet = str(genes["alphabet"])
    return alphabet * (min(int(genes["characters"]), max_characters) // len(alphabet) or 1)


def _send_body(operation: str, sender_key: str, genes: Genes, count: int) -> dict[str, Any]:
    names = [f"n{number}" + "n" * (genes["name_characters"] - 1) for number in range(genes["names"])]
    content = _content(genes, names)
    receivers = [_receiver(genes, names, number) for number in range(count)]
    if operation.endswith("Alimtalk"):
        body = alimtalk_body(sender_key, receivers=receivers)
    elif operation.endswith("Friendtalk"):
        if genes["has_own_texts"]:
            for number, each in enumerate(receivers):
                each["content"] = content.replace("#{n", f"#{{{number}n")
                each["templateData"] |= {f"{number}{name}": genes["value"] for name in names}
        body = friendtalk_body(sender_key, content=content, receivers=receivers)
        button = {"buttonType": "appLink", "name": "a", "mobileUrl": genes["link"], "pcUrl": genes["link"]}
        body["buttons"] = [button | {"androidUrl": genes["link"], "iosUrl": f"a:{genes['link']}"}] * genes[
            "buttons"
        ]
    elif operation.endswith("BrandMessage"):
        body = _brand_body(sender_key, genes, content, receivers)
    else:
        body = sms_body(content=content, receivers=receivers)
        if not operation.endswith("SMS"):
            body["subject"] = content[:60]
    if genes["image_bytes"] and not operation.endswith(("Alimtalk", "SMS", "LMS")):
        body["image"] = image_body(genes["image_bytes"])
    if genes["fallback"] and operation.endswith(("talk", "BrandMessage")):
        body |= {"resend": True, "resendPhoneNumber": "02-1234-5678", "resendContent": genes["fallback"]}
    return body


def _brand_body(sender_key: str, genes: Genes, content: str, receivers: list[dict[str, Any]]) -> dict[str, Any]:
    kind = genes["attachment"]
    if kind == "template":
        return {"senderKey": sender_key, "templateCode": "B1", "receivers": receivers}
    if kind in ("many cards", "long cards"):
        cards = (
            [card_of_feed()] * 500 if kind == "many cards" else [card_of_feed(message=str(genes["literal"]))] * 6
        )
        return typed_body("carouselFeed", {"carousel": {"list": cards}}, senderKey=sender_key, receivers=receivers)
    if kind == "many items":
        items = {"header": str(genes["literal"]), "item": {"list": [{"title": "가"}] * 3000}}
        return typed_body("wideList", items, senderKey=sender_key, receivers=receivers)
    if genes["has_own_texts"]:
        for each in receivers:
            each["content"] = content
    body = brand_body(sender_key, content=content, receivers=receivers)
    link = str(genes["link"])
    if kind == "buttons":
        many = [{"name": "가", "type": "WL", "linkMo": link, "schemeIos": link}] * genes["buttons"]
        return body | {"attachment": {"buttons": many, "coupon": {"title": link}}}
    button = {"buttonType": "appLink", "name": "a", "mobileUrl": link, "androidUrl": f"a:{link}"}
    return body | {"buttons": [button] * genes["buttons"]}


def _content(genes: Genes, names: list[str]) -> str:
    variables = "".join(f"#{{{name}}}" for name in names)[:MAX_CONTENT_CHARACTERS]
    repeats = min(int(genes["repeats"]), MAX_CONTENT_CHARACTERS // (len(variables) or 1))
    return str(genes["literal"]) + variables * repeats


def _receiver(genes: Genes, names: list[str], number: int) -> dict[str, Any]:
    phone = {
        "good": f"010{number:08}",
        "spelled": f"+82 10-{number // 10_000:04}-{number % 10_000:04}",
        "bad": "1",
        "blank": "",
        "long": "0" * 2000,
    }[genes["phone"]]
    spelling = {"": "{}", "#": "#{{{}}}", "decomposed": "{}", "absent": "{}가"}[genes["key"]]
    data = {spelling.format(name): genes["value"] for name in (*names, "n0")}
    data |= {f"더{each}": "x" for each in range(genes["more_keys"])}
    receiver = {"phoneNumber": phone, "templateData": data}
    return receiver | ({"reference": genes["reference"]} if genes["reference"] else {})


def _encode(body: dict[str, Any], genes: Genes) -> bytes:
    body = body | {f"unknown{number}": "x" for number in range(genes["unknown_fields"])}
    if genes["nesting"]:
        body["nesting"] = json.loads("[" * genes["nesting"] + "]" * genes["nesting"])
    if genes["numbers"]:
        body["numbers"] = [1.5] * genes["numbers"]
    if genes["wrong_type"] in body:
        body[genes["wrong_type"]] = 5
    elif genes["wrong_type"]:
        body["sendDate"] = 5
    return json.dumps(body, ensure_ascii=genes["is_escaped"]).encode("utf-8", "surrogatepass")


def plain_send(operation: str, sender_key: str, count: int) -> bytes:
    """Return a send of a short text without variables to so many receivers."""
    receivers = [{"phoneNumber": f"010{number:08}"} for number in range(count)]
    if operation.endswith("Alimtalk"):
        body = alimtalk_body(sender_key, receivers=receivers, templateCode=PLAIN_TEMPLATE)
    elif operation.endswith("Friendtalk"):
        body = friendtalk_body(sender_key, receivers=receivers)
    elif operation.endswith("BrandMessage"):
        body = brand_body(sender_key, receivers=receivers)
    else:
        body = sms_body(receivers=receivers)
        if operation.endswith("MMS"):
            body["image"] = image_body()
    return json.dumps(body, ensure_ascii=False).encode()


def template_with_variables(sender_key: str) -> dict[str, Any]:
    """Return a template whose variables the shapes of an Alimtalk fill."""
    link = {"buttonType": "webLink", "name": "a", "mobileUrl": "https://a/#{n0}", "pcUrl": "https://a/#{n0}"}
    return template_body(sender_key, content="가" * 900 + "#{n0}", buttons=[link] * 5)


def describe(genes: Genes) -> str:
    """Return a shape for a message, with long values cut."""
    return ", ".join(f"{name}: {str(value)[:20]!r}" for name, value in genes.items())
