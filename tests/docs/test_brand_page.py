"""Checks the page on brand messages: the API accepts every body on it, its limits are those of the code."""

import json
import re

from pabal.domain.brand.message import BrandType
from pabal.domain.brand.rules import RULES
from tests.fixtures.pages import blocks, section
from tests.fixtures.virtual import Environment
from tests.fixtures.web import call_ok, list_phone_messages, register_channel

BODIES = blocks(section("brand-messages"), "json")
TABLE = section("brand-messages", "Types").partition("|---|")[2]
TYPES = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", TABLE, re.MULTILINE))


async def test_every_body_of_the_page_is_accepted_and_arrives(env: Environment) -> None:
    call = await env.caller()
    sender_key = await register_channel(call)
    for body in BODIES:
        await call_ok(call, "message/sendBrandMessage", json.loads(body) | {"senderKey": sender_key})
    await env.wait(2)

    assert len(BODIES) == 4
    assert len(await list_phone_messages(call)) == len(BODIES)


def test_table_of_types_has_the_limits_of_the_code() -> None:
    assert list(TYPES) == [each.value for each in BrandType]
    for kind, rules in RULES.items():
        text, image, buttons, attachment = (cell.strip() for cell in TYPES[kind].split("|"))
        assert (f"{rules.max_characters:,} characters" in text) == bool(rules.max_characters), kind
        assert (image == "yes") == rules.needs_image
        assert buttons == {0: "", 1: "1", 2: "2", 5: "5"}[rules.max_buttons] or buttons == "1 or 2"
        fields = {"additional_content": "additionalContent"}
        named = {fields.get(each, each) for each in rules.fields} - {"buttons", "image"}
        assert set(re.findall(r"`(\w+)`", attachment)) == named
