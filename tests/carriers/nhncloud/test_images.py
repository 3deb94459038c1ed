"""Uploads of pictures to NHN Cloud: once for all calls, and again before they are deleted there."""

import asyncio
from typing import Any

from pabal.carriers.nhncloud.client import NhnCloudClient
from pabal.carriers.nhncloud.sender import ImageUploads
from pabal.domain.content.image import Image
from pabal.domain.sends.message import Product
from tests.carriers.conformance import virtual_clock
from tests.fakes.nhncloud.server import FakeNhnCloud
from tests.fakes.relay_server import RelayTransport
from tests.fixtures.virtual import VirtualWorld

DAY_S = 24 * 3600.0
REQUEST = bytes(13)


async def load(request_id: bytes) -> list[Image]:
    return [Image("image/jpeg", "photo.jpg", b"\xff\xd8\xff\xe0" + bytes(100))]


async def test_picture_is_uploaded_again_before_the_relay_deletes_it() -> None:
    """SMS ko/console-guide.md: attachments are kept for seven days."""
    relay, world = FakeNhnCloud(virtual_clock, seed=1), VirtualWorld()
    client = NhnCloudClient(
        "http://relay.invalid", "smsAppKey0123456", "smsSecret", transport=RelayTransport(relay)
    )
    uploads = ImageUploads(load, client, None, world)
    used: list[int | str] = []
    for _ in range(30):
        used.extend(await uploads.upload(REQUEST, Product.MMS, 10.0))
        recipients = [{"recipientNo": "01020000001"}]
        body: dict[str, Any] = {"body": "사진", "title": "제목", "sendNo": "15880000", "recipientList": recipients}
        body["attachFileIdList"] = [used[-1]]
        await client.request("POST", "/sms/v3.0/appKeys/{appkey}/sender/mms", body=body, timeout_s=10.0)
        await asyncio.sleep(DAY_S / 2)

    assert len(set(used)) == len(relay.attachments) == 3
    assert used == sorted(used, key=used.index)
    await client.close()
