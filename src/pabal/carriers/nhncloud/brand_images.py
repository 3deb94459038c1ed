"""Uploads the images of brand messages."""

from pabal.carriers.nhncloud.client import NhnCloudClient, UploadFile, expect_documented_shape
from pabal.domain.brand.message import BrandType

JPEG = "image/jpeg"
IMAGE, WIDE_IMAGE = "IMAGE", "WIDE_IMAGE"
"""The types of the images that we upload; others are uploaded in NHN Cloud's console."""


def image_type_of(brand_type: BrandType | None) -> str:
    """Return the type that an image is uploaded as: a wide one may be no higher than wide."""
    return WIDE_IMAGE if brand_type is BrandType.WIDE else IMAGE


async def upload_image(client: NhnCloudClient, name: str, body: bytes, image_type: str, timeout_s: float) -> str:
    """Upload an image and return its address.

    Raises what NhnCloudClient.request raises: NHN Cloud refuses an image that is too narrow or too high.
    """
    answer = await client.request(
        "POST",
        "/brand-message/v1.0/appkeys/{appkey}/images",
        timeout_s=timeout_s,
        file=UploadFile("image", name, JPEG, body, {"imageType": image_type}),
    )
    with expect_documented_shape():
        return str(answer["image"]["imageUrl"])
