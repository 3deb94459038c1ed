"""What the translations to bodies of our own share: a picture in a body, and whom a problem of one concerns."""

import base64

from pabal.domain.base.codes import Problem
from pabal.domain.content.image import Image
from pabal.models.bodies import ImageBody

_RECEIVERS = "receivers["


def image_body(image: Image) -> ImageBody:
    """Return a picture as our bodies have it."""
    body = base64.b64encode(image.body).decode()
    return ImageBody(contentType=image.content_type, fileName=image.file_name, body=body)


def receiver_of(problem: Problem) -> int | None:
    """Return the place of the receiver that a problem names; None where it concerns all of them."""
    if not problem.field.startswith(_RECEIVERS):
        return None
    return int(problem.field[len(_RECEIVERS) :].partition("]")[0])
