"""Uploads the images of requests once, for all calls that need them."""

from base64 import b64encode

from pabal.carriers.nhncloud.client import NhnCloudClient, UploadFile, expect_documented_shape
from pabal.carriers.relay.call_queue import SharedCalls
from pabal.carriers.relay.carrier import ImageNotSupported as ImageNotSupported
from pabal.carriers.relay.carrier import LoadImages, check_images
from pabal.domain.brand.message import BrandMessage, BrandType
from pabal.domain.content.image import JPEG, LEAST_LIMITS, PNG, Image, ImageLimits
from pabal.domain.sends.message import Product
from pabal.world import World

CACHE_TTL_S = 6 * 24 * 3600.0
"""How long an upload is used: SMS deletes uploads after seven days, KakaoTalk never."""
MAX_FILE_NAME_CHARACTERS = 45
_TALK_LIMITS = ImageLimits(5 * 1024 * 1024, types=frozenset((JPEG, PNG)))
_LIMITS = {
    Product.MMS: ImageLimits(300 * 1024, 1000, 1000, max_count=3, max_total_bytes=800 * 1024),
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
        load_images: LoadImages,
        sms_client: NhnCloudClient | None,
        talk_client: NhnCloudClient | None,
        world: World,
    ) -> None:
        self._load_images = load_images
        self._sms_client = sms_client
        self._talk_client = talk_client
        self._uploads: SharedCalls[tuple[bytes, str], tuple[ImageRef, ...]] = SharedCalls(
            self._upload, CACHE_TTL_S, world
        )

    async def upload(
        self, request_id: bytes, product: Product, timeout_s: float, brand: BrandMessage | None = None
    ) -> tuple[ImageRef, ...]:
        """Return the references of a request's images, which are uploaded if they are not yet.

        Raises ImageNotSupported, and what NhnCloudClient.request raises.
        """
        if brand is not None:
            kind = image_type_of(brand.type)
        else:
            kind = "mms" if product.is_text else "wide" if product is Product.FRIENDTALK_WIDE_IMAGE else "talk"
        return await self._uploads.get((request_id, kind), timeout_s)

    def forget(self, request_id: bytes) -> None:
        """Upload the images of a request again when they are needed next."""
        for kind in ("mms", "wide", "talk", IMAGE, WIDE_IMAGE):
            self._uploads.forget((request_id, kind))

    async def _upload(self, wanted: tuple[bytes, str], timeout_s: float) -> tuple[ImageRef, ...]:
        request_id, kind = wanted
        images = await self._load_images(request_id)
        check_images(images, limits_of(Product.MMS) if kind == "mms" else _TALK_LIMITS)
        names = [
            f"{request_id.hex()}{number or ''}{_SUFFIXES[each.content_type]}"[-MAX_FILE_NAME_CHARACTERS:]
            for number, each in enumerate(images)
        ]
        return tuple(
            [await self._upload_one(name, each, kind, timeout_s) for name, each in zip(names, images, strict=True)]
        )

    async def _upload_one(self, name: str, image: Image, kind: str, timeout_s: float) -> ImageRef:
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
