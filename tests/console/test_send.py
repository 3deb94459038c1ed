"""The send page: what is typed is counted, shown, checked and sent exactly as by the interface."""

import re

from tests.console.scenery import Shown, Visitor, visitor_of
from tests.virtual import Town
from tests.web.scenery import PHONE, SENDER, Play, on_phone

HIDDEN = re.compile(r'name="(key|digest|test_key)" value="([0-9a-f]+)"')


def form(kind: str = "sms", **fields: str) -> dict[str, str]:
    """Return the fields of a form as the page posts them."""
    return {"kind": kind, "sender": SENDER, "content": "안녕하세요", "receivers": PHONE, "once": "1", **fields}


async def check(visitor: Visitor, fields: dict[str, str]) -> Shown:
    return await visitor.fill_in("/console/send/check", **fields)


async def send(visitor: Visitor, fields: dict[str, str]) -> Shown:
    """Look a message over and send it."""
    looked = await check(visitor, fields)
    assert looked.status == 200, looked.text
    return await visitor.fill_in("/console/send", **fields, **dict(HIDDEN.findall(looked.text)))


def test_an_sms_is_looked_over_and_sent(play: Play) -> None:
    async def scene(town: Town) -> None:
        call = await town.caller()
        visitor = await visitor_of(town)

        sent = await send(visitor, form())
        await town.wait(5)

        assert sent.status == 303
        assert sent.location.startswith("/console/send/done/")
        [message] = await on_phone(call)
        assert message["content"] == "안녕하세요"

    play(scene)
