"""Uploads the images of requests once, for all calls that need them."""

from base64 import b64encode

from pabal.carriers.nhncloud.client import NhnCloudClient, UploadFile, expect_documented_shape
from pabal.carriers.relay.call_queue import SharedCalls
from pabal.carriers.relay.carrier import ImageNotSupported as ImageNotSupported
from pabal.carriers.relay.carrier import LoadImage, check_image
from pabal.domain.brand.message import BrandMessage, BrandType
from pabal.domain.content.image import JPEG, LEAST_LIMITS, PNG, Image, ImageLimits
from pabal.domain.sends.message import Product
from pabal.world import World

CACHE_TTL_S = 6 * 24 * 3600.0
"""How long an upload is used: SMS deletes uploads after seven days, KakaoTalk never."""
MAX_FILE_NAME_CHARACTERS = 45
_TALK_LIMITS = ImageLimits(5 * 1024 * 1024, types=frozenset((JPEG, PNG)))
_LIMITS = {
    Product.MMS: ImageLimits(300 * 1024, 1000, 1000),
    Product.ALIMTALK: ImageLimits(500_000),  # of a template
    **{each: _TALK_LIMITS for each in Product if each.is_friend_talk or each is Product.BRAND_MESSAGE},
}
_SUFFIXES = {JPEG: ".jpg", PNG: ".png"}
"""NHN Cloud requires one of these."""

ImageRef = str | int
"""What an uploaded image is called at NHN Cloud: its id for SMS, its address for KakaoTalk."""
IMAGE, WIDE_IMAGE = "IMAGE", "WIDE_IMAGE"
"""The types of the images that we upload; others are uploaded in NHN Cloud's console."""


def limits_of(product: Product) -> ImageLimits:
    """Return which images NHN Cloud documents that it takes."""
    return _LIMITS.get(product, LEAST_LIMITS)


class ImageUploads:
    """Uploads images and remembers their references."""

    def __init__(
        self,
        load_image: LoadImage,
        sms_client: NhnCloudClient | None,
        talk_client: NhnCloudClient | None,
        world: World,
    ) -> None:
        self._load_image = load_image
        self._sms_client = sms_client
        self._talk_client = talk_client
        self._uploads: SharedCalls[tuple[bytes, str], ImageRef] = SharedCalls(self._upload, CACHE_TTL_S, world)

    async def upload(
        self, request_id: bytes, product: Product, timeout_s: float, brand: BrandMessage | None = None
    ) -> ImageRef:
        """Return the reference of a request's image, which is uploaded if it is not yet.

        Raises ImageNotSupported, and what NhnCloudClient.request raises.
        """
        if brand is not None:
            kind = image_type_of(brand.type)
        else:
            kind = "mms" if product.is_text else "wide" if product is Product.FRIENDTALK_WIDE_IMAGE else "talk"
        return await self._uploads.get((request_id, kind), timeout_s)

    def forget(self, request_id: bytes) -> None:
        """Upload an image again when it is needed next."""
        for kind in ("mms", "wide", "talk", IMAGE, WIDE_IMAGE):
            self._uploads.forget((request_id, kind))

    async def _upload(self, wanted: tuple[bytes, str], timeout_s: float) -> ImageRef:
        request_id, kind = wanted
        image = await self._load_image(request_id)
        limits = limits_of(Product.MMS) if kind == "mms" else _TALK_LIMITS
        image = check_image(image, limits)
        name = f"{request_id.hex()}{_SUFFIXES[image.content_type]}"[-MAX_FILE_NAME_CHARACTERS:]
        if kind == "mms":
            assert self._sms_client is not None
            answer = await self._sms_client.request(
                "POST",
                "/sms/v3.0/appKeys/{appkey}/attachfile/binaryUpload",
                timeout_s=timeout_s,
                body={"fileName": name, "createUser": "pabal", "fileBody": b64encode(image.body).decode()},
            )
            with expect_documented_shape():
                return int(answer["body"]["data"]["fileId"])
        assert self._talk_client is not None
        if kind in (IMAGE, WIDE_IMAGE):
            return await upload_image(self._talk_client, name, image, kind, timeout_s)
        answer = await self._talk_client.request(
            "POST",
            "/friendtalk/v2.4/appkeys/{appkey}/images",
            timeout_s=timeout_s,
            query={"wide": "true"} if kind == "wide" else None,
            file=UploadFile("image", name, image.content_type, image.body),
        )
        with expect_documented_shape():
            return str(answer["image"]["imageUrl"])


def image_type_of(brand_type: BrandType | None) -> str:
    """Return the type that an image is uploaded as: a wide one may be no higher than wide."""
    return WIDE_IMAGE if brand_type is BrandType.WIDE else IMAGE


async def upload_image(client: NhnCloudClient, name: str, image: Image, image_type: str, timeout_s: float) -> str:
    """Upload an image and return its address.

    Raises what NhnCloudClient.request raises: NHN Cloud refuses an image that is too narrow or too high.
    """
    answer = await client.request(
        "POST",
        "/brand-message/v1.0/appkeys/{appkey}/images",
        timeout_s=timeout_s,
        file=UploadFile("image", name, image.content_type, image.body, {"imageType": image_type}),
    )
    with expect_documented_shape():
        return str(answer["image"]["imageUrl"])
