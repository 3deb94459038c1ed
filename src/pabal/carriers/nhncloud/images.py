"""Pictures that go along with messages: uploaded once, and named in every call that needs them."""

import asyncio
from base64 import b64encode
from collections import OrderedDict
from collections.abc import Awaitable, Callable

from pabal.carriers.nhncloud.client import File, NhnCloudClient, read_as_documented
from pabal.domain.image import Image
from pabal.domain.message import Product
from pabal.world import World

MOST_KEPT = 1000
KEPT_S = 3600.0
"""How long the name of an upload is good for; SMS forgets uploads, and does not say when."""
MOST_NAME = 45
JPEG = "image/jpeg"

Show = Callable[[bytes], Awaitable[Image | None]]
"""Returns the picture of a request."""
Name = str | int


class NotCarried(Exception):
    """The picture is gone, or of a kind that is not carried there."""


class ImageUploads:
    """What pictures of requests are called at NHN Cloud."""

    def __init__(self, show: Show, texts: NhnCloudClient | None, talk: NhnCloudClient | None, world: World) -> None:
        self._show = show
        self._texts = texts
        self._talk = talk
        self._world = world
        self._names: OrderedDict[tuple[bytes, str], tuple[float, asyncio.Task[Name]]] = OrderedDict()

    async def name(self, request_id: bytes, product: Product, within_s: float) -> Name:
        """Return what a request's picture is called, uploading it if need be.

        Raises NotCarried, and what Client.ask raises.
        """
        kind = "mms" if product.is_text else "wide" if product is Product.FRIENDTALK_WIDE_IMAGE else "talk"
        found = self._names.get((request_id, kind))
        if found is None or found[0] + KEPT_S < self._world.monotonic() or _has_failed(found[1]):
            task = asyncio.create_task(self._upload(request_id, kind, within_s))
            self._names[request_id, kind] = found = self._world.monotonic(), task
            while len(self._names) > MOST_KEPT:
                self._names.popitem(last=False)
        return await asyncio.shield(found[1])

    def forget(self, request_id: bytes) -> None:
        """Upload a picture anew when it is needed again."""
        for kind in ("mms", "wide", "talk"):
            self._names.pop((request_id, kind), None)

    async def _upload(self, request_id: bytes, kind: str, within_s: float) -> Name:
        image = await self._show(request_id)
        if image is None or image.content_type != JPEG:
            raise NotCarried
        name = f"{request_id.hex()}.jpg"[-MOST_NAME:]  # whatever the caller called it: it must end in jpg there
        if kind == "mms":
            assert self._texts is not None
            answer = await self._texts.ask(
                "POST",
                "/sms/v3.0/appKeys/{appkey}/attachfile/binaryUpload",
                within_s=within_s,
                body={"fileName": name, "createUser": "pabal", "fileBody": b64encode(image.body).decode()},
            )
            with read_as_documented():
                return int(answer["body"]["data"]["fileId"])
        assert self._talk is not None
        answer = await self._talk.ask(
            "POST",
            "/friendtalk/v2.4/appkeys/{appkey}/images",
            within_s=within_s,
            query={"wide": "true"} if kind == "wide" else None,
            file=File("image", name, JPEG, image.body),
        )
        with read_as_documented():
            return str(answer["image"]["imageUrl"])


def _has_failed(task: "asyncio.Task[Name]") -> bool:
    return task.done() and (task.cancelled() or task.exception() is not None)
