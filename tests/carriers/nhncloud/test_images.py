"""Uploads of pictures to NHN Cloud: once for all calls, and again before they are deleted there."""

import asyncio

from pabal.carriers.nhncloud.client import NhnCloudClient
from pabal.carriers.nhncloud.images import ImageUploads
from pabal.domain.content.image import Image
from pabal.domain.sends.message import Product
from tests.carriers.conformance import virtual_clock
from tests.fakes.nhncloud.calling import JPEG, Caller, result_code, sms_body
from tests.fakes.nhncloud.server import FakeNhnCloud
from tests.fakes.relay_server import RelayTransport
from tests.fixtures.transports import OverHttpx
from tests.fixtures.virtual import VirtualWorld

DAY_S = 24 * 3600.0
REQUEST = bytes(13)


async def load(request_id: bytes) -> Image:
    return Image("image/jpeg", "photo.jpg", JPEG)


async def test_picture_is_uploaded_again_before_the_relay_deletes_it() -> None:
    """SMS ko/console-guide.md: attachments are kept for seven days."""

    relay, world = FakeNhnCloud(virtual_clock, seed=1), VirtualWorld()
    client = NhnCloudClient(
        "http://relay.invalid", "smsAppKey0123456", "smsSecret", transport=OverHttpx(RelayTransport(relay))
    )
    uploads = ImageUploads(load, client, None, world)
    used: list[int | str] = []
    for _ in range(30):
        used.append(await uploads.upload(REQUEST, Product.MMS, 10.0))
        body = sms_body("01020000001", title="제목", attachFileIdList=[used[-1]])
        assert result_code(await Caller(relay).sms("POST", "sender/mms", body)) == 0
        await asyncio.sleep(DAY_S / 2)

    assert len(set(used)) == len(relay.attachments) == 3
    assert used == sorted(used, key=used.index)
    await client.close()


async def test_attachment_is_gone_after_seven_days() -> None:
    relay = FakeNhnCloud(virtual_clock, seed=1)
    caller = Caller(relay)
    file = {"fileName": "a.jpg", "createUser": "a", "fileBody": "/9j/4AAA"}
    number = (await caller.sms("POST", "attachfile/binaryUpload", file))["body"]["data"]["fileId"]
    body = sms_body("01020000001", title="제목", attachFileIdList=[number])
    await asyncio.sleep(7 * DAY_S)
    assert result_code(await caller.sms("POST", "sender/mms", body)) == 0
    await asyncio.sleep(1)

    assert result_code(await caller.sms("POST", "sender/mms", body)) == -2004
