"""Brand messages through Solapi's endpoints: every type, with pictures from here and from the relay behind."""

import base64
from typing import Any

import msgspec
import pytest

from pabal.carriers.solapi.brand import to_remote
from pabal.domain.brand.message import BrandType
from pabal.domain.sends.message import Attempt, Product
from pabal.store.engine.base import Tx
from pabal.store.messages import requests
from pabal.store.messages.requests import Request
from tests.fixtures.pictures import make_jpeg
from tests.fixtures.solapi_brand import BUBBLES, FILE
from tests.fixtures.solapi_calls import SENDER, SETTINGS, SolapiCaller, solapi_caller
from tests.fixtures.virtual import Environment

pytestmark = pytest.mark.settings(**SETTINGS)


async def read_requests(env: Environment) -> list[Request]:
    def read(tx: Tx) -> list[Request]:
        ids = [bytes(row[0]) for row in tx.fetch_all("select id from requests order by id")]
        return [requests.get(tx, [each])[each] for each in ids]

    return await env.store.read(read)


def as_solapi_gets_it(request: Request) -> dict[str, Any]:
    """Return what our own carrier would send to Solapi for a request."""
    attempt = Attempt(bytes(16), 1, 1, Product.BRAND_MESSAGE, "01012345678", "@shop", None, request.content)
    attempt = attempt._replace(
        sender_key=request.sender_key, brand=request.brand, buttons=request.buttons, parameters=None
    )
    return dict(to_remote(attempt, None)["kakaoOptions"]["bms"])


@pytest.mark.parametrize("bubble", BUBBLES)
async def test_every_type_reaches_the_relay_as_it_was_given(env: Environment, sender_key: str, bubble: str) -> None:
    caller = await solapi_caller(env)
    text, parts = BUBBLES[bubble]
    bms = {"targeting": "M", "chatBubbleType": bubble, **parts}
    message = {"to": "01012345678", "text": text, "kakaoOptions": {"pfId": sender_key, "bms": bms}}
    answer = await caller.send(message)
    (request,) = await read_requests(env)
    await env.wait(5)
    rows = (await caller("GET", "messages/v4/list")).body["messageList"].values()

    assert answer.body["failedMessageList"] == []
    assert as_solapi_gets_it(request) == bms
    assert [(row["type"], row["statusCode"], row["text"]) for row in rows] == [("BMS_FREE", "4000", text or "")]
