"""Forms and files for the console that hold the event loop longest: the largest of known kinds, and random ones."""

from collections.abc import Awaitable, Callable, Iterator
from random import Random
from typing import Any

from pabal.app import Service
from pabal.console.pages import MESSAGE_BYTES, PICTURE_BYTES
from pabal.domain.users.user import Role
from pabal.service.access.sign_in import passwords
from pabal.service.access.users import users
from pabal.service.context import Context
from tests.fixtures.console import PASSWORD, Browser
from tests.hostile import file_shapes, form_shapes, shapes
from tests.hostile.form_shapes import FORM_GENES, MESSAGE_GENES, EncodedForm
from tests.hostile.shapes import Genes

FORM_SHAPES = 25
"""How many random forms are tried, beyond the known ones."""
FILE_SHAPES = 5
"""How many random files of each kind are tried."""
FILE_BYTES = 2 * 1024 * 1024
MARGIN_BYTES = 16 * 1024
"""What a form has beside its long texts."""
HARMLESS = {name: choices[0] for name, choices in FORM_GENES.items()}
HARMLESS_MESSAGE = {name: choices[0] for name, choices in MESSAGE_GENES.items()}
SEND_PATHS = ("/console/send/look", "/console/send/check", "/console/send/form", "/console/send/upload")
TEMPLATE_PATHS = ("/console/templates/new", "/console/templates/preview")

Call = Callable[[], Awaitable[object]]


async def sign_in(service: Service, context: Context, account: str) -> Browser:
    """Return a browser in which a new owner of an account has signed in."""
    hash = passwords.hash_password(PASSWORD, context.world)
    await context.store.write(users.create, account, "turns", Role.OWNER, hash, context.world.now())
    browser = Browser(service)
    signed_in = await browser.submit("/console/login", name="turns", password=PASSWORD)
    assert signed_in.status == 303, signed_in
    return browser


def calls(browser: Browser, csrf: str, sender_key: str) -> Iterator[tuple[str, Call]]:
    """Yield the name of each form or file, and the call that sends it."""

    def post(path: str, encoded: EncodedForm) -> Call:
        return lambda: browser.post_body(path, encoded.body, encoded.content_type)

    def upload(file: bytes, variables: int) -> Call:
        encoded = form_shapes.encode_multipart({"csrf": csrf}, file, HARMLESS, "file")
        content = "a" + "".join(f"#{{n{number}}}" for number in range(variables))
        message = {"csrf": csrf, "kind": "lms", "sender": "02-1234-5678", "content": content}

        async def call() -> None:
            created = await browser.post("/console/send/upload", message)
            await browser.post_body(f"{created.location}/file", encoded.body, encoded.content_type)

        return call

    for name, fields, genes in _messages(sender_key):
        yield f"{name}, to review", post("/console/send/check", _encode(csrf, fields, genes))
    photo = HARMLESS | {"is_multipart": True, "file_bytes": PICTURE_BYTES - MARGIN_BYTES}
    template = form_shapes.template_fields(sender_key)
    yield "a template with a photo of 8 MB", post("/console/templates/new", _encode(csrf, template, photo))
    rng = Random(24)
    for number in range(FORM_SHAPES):
        genes = shapes.random_genes(MESSAGE_GENES, rng)
        if number % 2:
            path, fields = rng.choice(TEMPLATE_PATHS), template
        else:
            path = rng.choice(SEND_PATHS)
            fields, _ = form_shapes.message_fields(sender_key, genes, MESSAGE_BYTES // 2)
        fields = form_shapes.change_fields(fields, [], genes, MESSAGE_BYTES // 2)
        encoded = _encode(csrf, fields, genes)
        yield f"form {number}: {path}, {len(encoded.body) / 1e6:.1f} MB", post(path, encoded)
    for kind, choices, build in (
        ("CSV", file_shapes.CSV_GENES, file_shapes.build_csv),
        ("Excel", file_shapes.XLSX_GENES, file_shapes.build_xlsx),
    ):
        for number in range(FILE_SHAPES):
            genes = shapes.random_genes(choices, rng)
            file, rows = build(genes, FILE_BYTES)
            name = f"{kind} file {number}: {rows:,} rows, {len(file) / 1e6:.1f} MB"
            yield name, upload(file, genes["variables"])


def _messages(sender_key: str) -> Iterator[tuple[str, dict[str, str], Genes]]:
    """Yield the largest messages of known kinds."""
    room = MESSAGE_BYTES - MARGIN_BYTES
    for name, changes in (
        ("1,000 typed receivers", {"receivers": 1000}),
        ("1,000 typed receivers with 20 values each", {"receivers": 1000, "names": 20, "value": "가나다"}),
        ("1,000 bad receivers", {"receivers": 1000, "line": "bad", "names": 20}),
        ("2,000 variables", {"receivers": 1000, "names": 2000, "line": "bare"}),
        ("3,000 characters of fallback", {"kind": "friendtalk", "resend": "가" * 3000, "buttons": 5}),
    ):
        genes: dict[str, Any] = {**HARMLESS_MESSAGE, **changes}
        yield name, form_shapes.message_fields(sender_key, genes, room)[0], genes
    plain, _ = form_shapes.message_fields(sender_key, HARMLESS_MESSAGE, room)
    for name, piece in (("1 MB of Hangul", "가"), ("1 MB of emoji", "😀"), ("1 MB of accents", "x\u0301")):
        long = piece * (room // (3 * len(piece.encode())))
        yield name, plain | {"content": long}, HARMLESS_MESSAGE
        yield f"{name}, as multipart", plain | {"content": long * 3}, HARMLESS_MESSAGE | {"is_multipart": True}
    yield "900 fields of 1 KB", plain | {f"x{n}": "가" * 100 for n in range(900)}, HARMLESS_MESSAGE


def _encode(csrf: str, fields: dict[str, str], genes: Genes) -> EncodedForm:
    return form_shapes.encode_form({"csrf": csrf, **fields}, genes)
