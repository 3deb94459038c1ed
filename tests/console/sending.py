"""What the tests of the send page share: its forms, and the steps from one to a send."""

import html
import re

from tests.console.scenery import Shown, Visitor
from tests.web.scenery import PHONE, SENDER, jpeg

HIDDEN = re.compile(r'name="(key|digest|test_key)" value="([0-9a-f]+)"')
IMAGE = {"image_name": "photo.jpg", "image_type": "image/jpeg", "image_body": jpeg()}
_ARRIVING = re.compile(r'id="arriving">(.*?)</p>', re.DOTALL)
_INSTEAD = re.compile(r'id="instead">(.*?)</div>', re.DOTALL)
_WRONG = re.compile(r'<span class="wrong" id="wrong-([\w-]+)"[^>]*>([^<]+)</span>')
_ROWS = re.compile(r"<tr( class=\"\w+\")?>(.*?)</tr>", re.DOTALL)
_CELL = re.compile(r"<td[^>]*>(.*?)</td>", re.DOTALL)


def form(kind: str = "sms", **fields: str) -> dict[str, str]:
    """Return the fields of a form as the page posts them."""
    return {"kind": kind, "sender": SENDER, "content": "안녕하세요", "receivers": PHONE, "once": "1", **fields}


def talk(kind: str, sender_key: str, **fields: str) -> dict[str, str]:
    """Return the fields of an Alimtalk or a friend talk."""
    return form(kind, **{"senderKey": sender_key, "templateCode": "T1", **fields})


async def look(visitor: Visitor, fields: dict[str, str]) -> Shown:
    """See what the page shows while someone types."""
    shown = await visitor.fill_in("/console/send/look", **fields)
    assert shown.status == 200, shown.text
    return shown


async def check(visitor: Visitor, fields: dict[str, str]) -> Shown:
    """Look a message over."""
    return await visitor.fill_in("/console/send/check", **fields)


def hidden(shown: Shown) -> dict[str, str]:
    """Return what a page has a form carry."""
    return dict(HIDDEN.findall(shown.text))


async def send(visitor: Visitor, fields: dict[str, str]) -> str:
    """Look a message over, send it, and return its request's id."""
    looked = await check(visitor, fields)
    assert looked.status == 200, wrong(looked)
    sent = await visitor.fill_in("/console/send", **fields, **hidden(looked))
    assert sent.location.startswith("/console/send/done/"), wrong(sent)
    return sent.location.rpartition("/")[2]


def wrong(shown: Shown) -> dict[str, str]:
    """Return what is told beside the fields."""
    return {name: html.unescape(text) for name, text in _WRONG.findall(shown.text)}


def arriving(shown: Shown) -> str:
    """Return the text on the phone that is drawn, as markup."""
    found = _ARRIVING.search(shown.text)
    assert found
    return html.unescape(found[1])


def instead(shown: Shown) -> str:
    """Return the fallback on the phone, as words."""
    found = _INSTEAD.search(shown.text)
    return " ".join(html.unescape(re.sub("<[^>]+>", " ", found[1])).split()) if found else ""


def rows(shown: Shown) -> list[list[str]]:
    """Return the receivers in the table, as words."""
    return [
        [html.unescape(re.sub("<[^>]+>", "", cell)).strip() for cell in _CELL.findall(row)]
        for _, row in _ROWS.findall(shown.text)
        if "<td" in row
    ]
