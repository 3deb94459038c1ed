"""Shapes of sends that could be expensive, each by its name, and the bodies that they stand for."""

import json
from typing import Any, NamedTuple

from tests.fixtures.brand_bodies import brand_body, card_of_feed, typed_body
from tests.fixtures.web import SENDER, alimtalk_body, friendtalk_body, image_body, sms_body, template_body

_DIFFERENT = "".join(map(chr, range(ord("가"), ord("가") + 2000)))
"""Every character once, so that nothing is gained by remembering some."""
PLAIN_TEMPLATE = "PLAIN"
"""The code of a template without variables."""
LINKS = "#{n0}" * 490


class SendShape(NamedTuple):
    """How a send differs from a plain one."""

    receivers: int = 1000
    names: int = 1
    """Variables, each so often in the text."""
    repeats: int = 1
    literal: str = ""
    value: Any = "x"
    key: str = "{}"
    """How the values spell the names of variables."""
    receiver: dict[str, Any] = {}  # noqa: RUF012 - never written to
    """What each receiver has besides."""
    has_own_texts: bool = False
    buttons: int = 0
    link: str = "https://a/#{n0}"
    fallback: str = ""
    body: dict[str, Any] = {}  # noqa: RUF012 - never written to
    """What the body has besides."""
    is_escaped: bool = False


SEND_SHAPES = {
    "one variable": SendShape(),
    "many receivers": SendShape(receivers=4000),
    "many variables": SendShape(names=200, repeats=5),
    "many variables of few": SendShape(receivers=10, names=200, repeats=5, value="가" * 300),
    "one variable often": SendShape(repeats=1000, value="x" * 300),
    "long values": SendShape(value="가" * 9000),
    "every character": SendShape(literal=f"{_DIFFERENT}😀", value=f"{_DIFFERENT}😀"),
    "long literal": SendShape(literal="가" * 9000),
    "combining characters": SendShape(literal="x\u0301" * 400, value="\u0301"),
    "half syllables": SendShape(repeats=250, value="\u11ab"),
    "emoji": SendShape(literal="😀" * 300, value="😀"),
    "numbers": SendShape(repeats=250, value=1.5),
    "wrong values": SendShape(value={"a": []}),
    "absent values": SendShape(names=20, key="{}가"),
    "spelled keys": SendShape(names=20, key="#{{{}}}"),
    "more keys": SendShape(receiver={"templateData": {f"더{each}": "x" for each in range(300)}}),
    "bad numbers": SendShape(receiver={"phoneNumber": "1"}),
    "blank numbers": SendShape(receiver={"phoneNumber": ""}),
    "long numbers": SendShape(receiver={"phoneNumber": "0" * 2000}),
    "long references": SendShape(receiver={"reference": "x" * 2000}),
    "own texts": SendShape(names=20, has_own_texts=True),
    "own texts of one variable": SendShape(repeats=250, value="가", has_own_texts=True),
    "buttons": SendShape(buttons=5, link=LINKS),
    "links of every value": SendShape(buttons=5, link="#{n0}://x", value="가" * 300),
    "many buttons": SendShape(buttons=3000),
    "fallback": SendShape(fallback="#{n0}" * 200, value="x" * 300),
    "long fallback": SendShape(fallback="가" * 3000),
    "image": SendShape(body={"image": image_body(60_000)}),
    "unknown fields": SendShape(receivers=10, body={f"unknown{number}": "x" for number in range(3000)}),
    "nesting": SendShape(receivers=10, body={"nesting": json.loads("[" * 400 + "]" * 400)}),
    "unknown numbers": SendShape(receivers=10, body={"numbers": [1.5] * 5000}),
    "wrong type": SendShape(body={"sendDate": 5}),
    "escaped": SendShape(value="가" * 50, is_escaped=True),
}
BRAND_SHAPES = {
    "buttons of the relay": {
        "attachment": {"buttons": [{"name": "가", "type": "WL", "linkMo": LINKS}] * 500, "coupon": {"title": LINKS}}
    },
    "many cards": typed_body("carouselFeed", {"carousel": {"list": [card_of_feed()] * 500}}),
    "long cards": typed_body("carouselFeed", {"carousel": {"list": [card_of_feed(message="가" * 9000)] * 6}}),
    "many items": typed_body("wideList", {"header": "가" * 9000, "item": {"list": [{"title": "가"}] * 3000}}),
}
"""What only a brand message has."""


def build_send(operation: str, sender_key: str, shape: SendShape, max_bytes: int) -> tuple[bytes, int]:
    """Return the body of a send, with as many receivers as fit, and their number."""
    one, three = (len(_encode(operation, sender_key, shape, few)) for few in (1, 3))
    count = max(1, min(shape.receivers, (max_bytes - one) * 2 // max(1, three - one)))
    return _encode(operation, sender_key, shape, count), count


def _encode(operation: str, sender_key: str, shape: SendShape, count: int) -> bytes:
    names = [f"n{number}" for number in range(shape.names)]
    content = shape.literal + "".join(f"#{{{name}}}" for name in names) * shape.repeats
    receivers = [_receiver(shape, names, number, content) for number in range(count)]
    fields: dict[str, Any] = {"content": content[:9500], "receivers": receivers}
    if operation.endswith(("talk", "BrandMessage")):
        fields |= {"senderKey": sender_key, "templateCode": "T1"}
        link = {"buttonType": "appLink", "name": "a", "mobileUrl": shape.link, "androidUrl": f"a:{shape.link}"}
        fields["buttons"] = [link] * shape.buttons
        if shape.fallback:
            fields |= {"resend": True, "resendPhoneNumber": SENDER, "resendContent": shape.fallback}
    else:
        fields |= {"sender": SENDER} | ({} if operation.endswith("SMS") else {"subject": content[:60]})
    if operation.endswith("BrandMessage"):
        del fields["templateCode"]
    body = json.dumps({**fields, **shape.body}, ensure_ascii=shape.is_escaped)
    return body.encode("utf-8", "surrogatepass")


def _receiver(shape: SendShape, names: list[str], number: int, content: str) -> dict[str, Any]:
    data = {shape.key.format(name): shape.value for name in (*names, "n0")}
    receiver: dict[str, Any] = {"phoneNumber": f"010{number:08}", "templateData": data}
    if shape.has_own_texts:
        receiver["content"] = content.replace("#{n", f"#{{{number}n")
        data |= {f"{number}{name}": shape.value for name in names}
    return {**receiver, **shape.receiver}


def plain_send(operation: str, sender_key: str, count: int) -> dict[str, Any]:
    """Return a send of a short text without variables to so many receivers."""
    receivers = [{"phoneNumber": f"010{number:08}"} for number in range(count)]
    if operation.endswith("Alimtalk"):
        return alimtalk_body(sender_key, receivers=receivers, templateCode=PLAIN_TEMPLATE)
    if operation.endswith("Friendtalk"):
        return friendtalk_body(sender_key, receivers=receivers)
    if operation.endswith("BrandMessage"):
        return brand_body(sender_key, receivers=receivers)
    return sms_body(receivers=receivers) | ({"image": image_body()} if operation.endswith("MMS") else {})


def template_with_variables(sender_key: str) -> dict[str, Any]:
    """Return a template whose variables the shapes of an Alimtalk fill."""
    link = {"buttonType": "webLink", "name": "a", "mobileUrl": "https://a/#{n0}", "pcUrl": "https://a/#{n0}"}
    return template_body(sender_key, content="가" * 900 + "#{n0}", buttons=[link] * 5, templateCode="T1")


FIELD_SHAPES: dict[str, Any] = {
    "long": "x" * 300_000,
    "Korean": "가" * 10_000,
    "emoji": "😀" * 10_000,
    "blanks": " " * 300_000,
    "digits": "0" * 10_000,
    "variables": "#{a}" * 2500,
    "combining characters": "x\u0301" * 10_000,
    "line breaks": "\n" * 10_000,
    "braces": "{" * 10_000,
    "periods": "2026-11-15~" * 1000,
}
"""Texts in place of the fields of other endpoints."""


def change_fields(fields: dict[str, Any], text: str, max_bytes: int) -> dict[str, Any]:
    """Return fields with a long text in place of each text, and lists of many items."""
    long = text[: max_bytes // (4 * max(1, len(fields)))]
    changed: dict[str, Any] = {}
    for name, value in fields.items():
        is_list_of_texts = isinstance(value, list) and value and isinstance(value[0], str)
        changed[name] = [long[:100]] * (max_bytes // 1000) if is_list_of_texts else value
        if isinstance(value, str):
            changed[name] = long
    if "buttons" in fields:
        changed["buttons"] = [{"name": long[:100], "mobileUrl": long[:2000]}] * (max_bytes // 6000)
    return changed
