"""The worst file within the limits costs at most ten times the decoding of it, in time and in memory."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.console import Browser, signed_in_browser
from tests.fixtures.virtual import Environment
from tests.fixtures.web import register_channel
from tests.hostile import file_shapes, form_shapes, shapes
from tests.hostile.cost import IS_TORTURE, MAX_FACTOR, Plain, excess_factor, run_undelivered, search
from tests.hostile.file_shapes import CSV_GENES, XLSX_GENES
from tests.hostile.form_shapes import FORM_GENES, EncodedForm
from tests.hostile.shapes import Genes

ROUNDS = 150 if IS_TORTURE else 10
"""How many shapes a search tries for one kind of file, unless its time is up."""
SEARCH_S = 20.0 if IS_TORTURE else 1.0
"""The CPU time after which a search ends."""
MAX_BYTES = 300_000 if IS_TORTURE else 20_000
HARMLESS = {name: choices[0] for name, choices in FORM_GENES.items()}
IMAGE_GENES: dict[str, tuple[Any, ...]] = {
    **FORM_GENES,
    "is_multipart": (True,),
    "fields": (0,),
    "file_bytes": (1000, 1, 51_200, 51_201, 300_000, 1_000_000),
    "emphasis": ("image", "none", "text"),
}

Build = Callable[[Genes, int], tuple[bytes, int]]


class Uploads:
    """Uploads files, each to a campaign of its own."""

    def __init__(self, browser: Browser, csrf: str) -> None:
        self._browser = browser
        self._csrf = csrf

    def encode(self, file: bytes) -> EncodedForm:
        """Return the form of a file."""
        return form_shapes.encode_multipart({"csrf": self._csrf, "once": "1"}, file, HARMLESS, "file")

    async def upload(self, encoded: EncodedForm, variables: int = 0) -> None:
        """Create a campaign with so many variables, and upload a file to it."""
        content = "a" + "".join(f"#{{n{number}}}" for number in range(variables))
        message = {"csrf": self._csrf, "kind": "lms", "sender": "02-1234-5678", "content": content}
        created = await self._browser.post("/console/send/upload", message)
        assert created.status == 303
        answer = await self._browser.post_body(f"{created.location}/file", encoded.body, encoded.content_type)
        assert answer.status == 303


@pytest.mark.parametrize(
    ("genes", "build", "decode"),
    [
        pytest.param(CSV_GENES, file_shapes.build_csv, file_shapes.decode_csv, id="csv"),
        pytest.param(XLSX_GENES, file_shapes.build_xlsx, file_shapes.decode_xlsx, id="xlsx"),
    ],
)
def test_worst_file_costs_ten_times_its_decoding_and_its_rows(
    tmp_path: Path, genes: dict[str, tuple[Any, ...]], build: Build, decode: Callable[[bytes], object]
) -> None:
    """Rows cost what those of a plain file cost: each is checked and stored."""

    async def scenario(env: Environment) -> None:
        browser = await signed_in_browser(env)
        uploads = Uploads(browser, await browser.csrf())

        @cache
        def plain(count: int) -> Plain:
            encoded = uploads.encode(file_shapes.plain_csv(count))
            return Plain(lambda: uploads.upload(encoded))

        async def factor_of(genes: Genes) -> float:
            file, count = build(genes, MAX_BYTES)
            encoded = uploads.encode(file)
            decode_form = form_shapes.decode_form(encoded)
            return await excess_factor(
                lambda: uploads.upload(encoded, genes["variables"]),
                lambda: (decode_form(), decode(file)),
                plain(count),
            )

        factor, worst = await search(genes, factor_of, ROUNDS, SEARCH_S)

        print(f"{factor:.1f} times its decoding, for {shapes.describe(worst)}")
        assert factor <= MAX_FACTOR, shapes.describe(worst)

    run_undelivered(tmp_path, scenario)


def test_worst_image_costs_ten_times_the_decoding_of_its_form(tmp_path: Path) -> None:
    async def scenario(env: Environment) -> None:
        sender_key = await register_channel(await env.caller())
        browser = await signed_in_browser(env)
        fields = {"csrf": await browser.csrf(), **form_shapes.template_fields(sender_key)}

        async def post(encoded: EncodedForm) -> None:
            await browser.post_body("/console/templates/new", encoded.body, encoded.content_type)

        async def factor_of(genes: Genes) -> float:
            encoded = form_shapes.encode_form(fields | {"emphasisType": genes["emphasis"]}, genes)
            return await excess_factor(lambda: post(encoded), form_shapes.decode_form(encoded), plain)

        plain = Plain(lambda: post(form_shapes.encode_form(fields, HARMLESS)))
        factor, worst = await search(IMAGE_GENES, factor_of, ROUNDS, SEARCH_S / 4)

        print(f"{factor:.1f} times its decoding, for {shapes.describe(worst)}")
        assert factor <= MAX_FACTOR, shapes.describe(worst)

    run_undelivered(tmp_path, scenario)
