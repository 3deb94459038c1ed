"""The images of a draft: three fields for each of up to three."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

IMAGE_FIELDS = tuple((f"image{n}_type", f"image{n}_name", f"image{n}_body") for n in ("", "2", "3"))
"""The fields of each image: type, name, and content in Base64."""
API_FIELDS = ("contentType", "fileName", "body")
"""What the API calls them."""
ALL_IMAGE_FIELDS = tuple(chain(*IMAGE_FIELDS))
MAX_IMAGE_BYTES = 1_000_000
"""Most bytes of an image that a form carries, whatever the carriers take."""


def image_texts(images: Iterable[Sequence[str]]) -> dict[str, str]:
    """Return the fields of images, each given by type, name and content in Base64."""
    pairs = (zip(names, each, strict=True) for names, each in zip(IMAGE_FIELDS, images, strict=False))
    return dict(chain.from_iterable(pairs))


def without_image(texts: Mapping[str, str], place: str) -> dict[str, str]:
    """Return the fields of all images without one; those after it take its place."""
    kept = [
        [texts[name] for name in names]
        for number, names in enumerate(IMAGE_FIELDS)
        if str(number) != place and texts[names[1]]
    ]
    return {**dict.fromkeys(ALL_IMAGE_FIELDS, ""), **image_texts(kept)}
