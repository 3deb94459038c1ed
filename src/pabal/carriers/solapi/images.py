"""Uploads the pictures of requests."""

from base64 import b64encode

from pabal.carriers.relay.dependencies import ImageNotSupported
from pabal.carriers.solapi.client import SolapiClient
from pabal.carriers.solapi.wire import UploadAnswer
from pabal.domain.content.image import Image

CACHE_TTL_S = 3600.0
"""How long an upload is used: the documents do not say how long Solapi has it."""
UPLOAD_PATH = "/storage/v1/files"
JPEG = "image/jpeg"


async def upload(client: SolapiClient, image: Image | None, kind: str, name: str, timeout_s: float) -> str:
    """Upload an image and return its id; `kind` is what Solapi will use it for.

    Raises ImageNotSupported, and what SolapiClient.request raises.
    """
    if image is None or image.content_type != JPEG:
        raise ImageNotSupported
    body = {"file": b64encode(image.body).decode(), "name": name, "type": kind}
    answer = await client.request("POST", UPLOAD_PATH, UploadAnswer, timeout_s=timeout_s, body=body)
    return answer.fileId
