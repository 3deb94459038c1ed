"""Fuzzing of what reads files, with a corpus: each input is parsed, or refused with a named reason."""

import asyncio
import io
from base64 import b64encode
from collections.abc import AsyncGenerator, Callable, Sequence
from random import Random

import pytest
from starlette.datastructures import Headers

from pabal.console.sheets import sheet, sheet_limits
from pabal.console.sheets.sheet import SheetRow
from pabal.console.shell import form_body
from pabal.domain.base.codes import Code, Problem, Refused
from pabal.domain.content.image import MAX_IMAGE_BYTES, parse_image
from tests.fixtures.pictures import JPEG
from tests.fixtures.sheets import PARTS, excel, excel_of, excel_with
from tests.hostile.mutate import ROUNDS, mutations

pytestmark = pytest.mark.slow

EXCEL_ROUNDS = min(ROUNDS, 5000)
"""Each packs a file, which takes milliseconds."""
FILE_CODES = {Code.INVALID_PARAMETER, Code.TOO_MANY_RECEIVERS}
LIST = '휴대폰번호,이름,메모\n010-1234-5678,홍길동,"두 줄\n메모"\n\n01011112222,"""",\n'
CSV_FILES = [
    *(LIST.encode(encoding) for encoding in ("utf-8", "utf-8-sig", "cp949", "utf-16")),
    LIST.replace(",", "\t").encode(),
    LIST.replace("\n", "\r\n").encode("utf-16-le"),
]
SHEETS = [
    *(part.encode() for part in PARTS.values() if isinstance(part, str)),
    b'<row r="2"><c r="A2" s="1"><v>45000.5</v></c><c t="b"><v>1</v></c><c r="AB2" t="e"><v>#N/A</v></c></row>',
    b'<row><c t="inlineStr"><is><r><t>a</t></r><rPh sb="0"><t>b</t></rPh></is></c></row>',
    b'<row><c t="d"><v>2026-11-15</v></c></row>',
    b'<!DOCTYPE x [<!ENTITY e "&#65;"><!ATTLIST c t CDATA "s">]><c>&e;</c>',
]


def read_or_refuse(body: bytes) -> list[SheetRow]:
    """Return the rows of a file within the limits, none if it is refused as files are."""
    rows: list[SheetRow] = []
    found: Sequence[Problem] = ()
    try:
        for batch in sheet.read_rows(io.BytesIO(body)):
            rows += batch
    except Refused as refused:
        found = refused.problems
    assert {problem.code for problem in found} <= FILE_CODES, body
    assert all(problem.field == "file" and problem.detail for problem in found), body
    numbers = [row.number for row in rows]
    assert numbers == sorted(set(numbers)), body
    assert all(0 < len(row.cells) <= sheet_limits.MAX_COLUMNS and any(row.cells) for row in rows), body
    return rows


def test_any_csv_file_is_read_or_refused() -> None:
    read = sum(bool(read_or_refuse(body)) for body in mutations(CSV_FILES, seed=21, rounds=3 * ROUNDS))
    assert read > ROUNDS // 2


def test_any_excel_file_is_read_or_refused() -> None:
    corpus = [excel_with({}), excel_of('<row r="5"><c s="2"><v>1</v></c></row>'), excel(["phone", 1, 2.5], ["x"])]
    assert read_or_refuse(corpus[0])
    for body in mutations(corpus, seed=22, rounds=EXCEL_ROUNDS):
        read_or_refuse(b"PK\x03\x04" + body[4:])


@pytest.mark.first_case
@pytest.mark.parametrize("part", PARTS)
def test_any_xml_in_a_part_of_an_excel_file_is_read_or_refused(part: str) -> None:
    original = str(PARTS[part]).encode()
    rounds = EXCEL_ROUNDS // 2
    read = 0
    for number, piece in enumerate(mutations([original, *SHEETS], seed=23, rounds=rounds)):
        # half of the inputs keep the part's own frame, so that they come past its first tag
        head, end, tail = original.rpartition(b"</")
        body = head + piece + end + tail if number % 2 else piece
        read += bool(read_or_refuse(excel_with({part: body})))
    assert read > 0


def test_any_rows_of_an_excel_file_are_read_or_refused() -> None:
    rng = Random(24)
    tags = ["<row>", "</row>", '<row r="7">', "<c>", "</c>", '<c r="XFD9">', '<c r="B1" t="s">', '<c t="n" s="1">',
            "<v>", "</v>", "<is>", "</is>", "<t>", "</t>", "<rPh>", "</rPh>", "1", "0", "가", "1e99", "-5",
            "_x0041_", "_xD800_", "&amp;", "&#0;", "&x;", "<![CDATA[a]]>", "<!--x-->", "<?pi?>",
            "\ufffe"]  # fmt: skip
    for _ in range(EXCEL_ROUNDS):
        read_or_refuse(excel_of("".join(rng.choices(tags, k=rng.randint(1, 30)))))


def test_any_image_is_parsed_or_refused() -> None:
    corpus = [b64encode(JPEG), b64encode(JPEG + b"\0"), b64encode(JPEG.ljust(MAX_IMAGE_BYTES, b"\0"))]
    types = [b"image/jpeg", b"IMAGE/JPG ", b"image,vnd.wap.sis"]
    kinds = list(mutations(types, seed=25, rounds=50))
    names = list(mutations([b"a.jpg", "사진.jpg".encode(), b"x" * 255], seed=26, rounds=50))
    parsed = 0
    for number, body in enumerate(mutations(corpus, seed=27)):
        kind, name = kinds[number % len(kinds)] if number % 2 else types[0], names[number % len(names)]
        codes: set[Code] = set()
        try:
            found = parse_image(kind.decode("latin-1"), name.decode("latin-1"), body.decode("latin-1"))
        except Refused as refused:
            codes = {problem.code for problem in refused.problems}
        if codes:
            assert codes == {Code.INVALID_IMAGE}, body
            continue
        parsed += 1
        assert len(found.body) <= MAX_IMAGE_BYTES
        assert b64encode(found.body) == body
    assert parsed > 0


FORM = (
    b'--cut\r\nContent-Disposition: form-data; name="csrf"\r\n\r\n0123\r\n'
    b'--cut\r\nContent-Disposition: form-data; name="once"\r\nX-Other: 1\r\n\r\n1\r\n'
    b'--cut\r\nContent-Disposition: form-data; name="file"; filename="\xea\xb0\x80.csv"\r\n'
    b"Content-Type: text/csv\r\n\r\nphone,name\n01012345678,x\n\r\n--cut--\r\n"
)
TYPES = [b"multipart/form-data; boundary=cut", b'multipart/form-data; charset=utf-8; boundary="cut"']


async def parse_form(content_type: bytes, body: bytes, chunk_bytes: int) -> form_body.ParsedForm | None:
    """Return a form that arrives in chunks, None if it is refused as forms are."""

    async def arrive() -> AsyncGenerator[bytes, None]:
        for start in range(0, len(body), chunk_bytes):
            yield body[start : start + chunk_bytes]

    headers = Headers(raw=[(b"content-type", content_type)])
    codes: set[Code] = set()
    try:
        return await form_body.parse_form(headers, arrive(), 20, 10_000)
    except Refused as refused:
        codes = {problem.code for problem in refused.problems}
    assert codes == {Code.INVALID_PARAMETER}, body
    return None


def run_forms(check: Callable[[form_body.ParsedForm], None], rounds: int) -> None:
    async def run() -> None:
        types = list(mutations(TYPES, seed=28, rounds=100))
        for number, body in enumerate(mutations([FORM, FORM[:150], b"--cut--\r\n"], seed=29, rounds=rounds)):
            content_type = types[number % len(types)] if number % 4 == 0 else TYPES[0]
            form = await parse_form(content_type, body, 1 + number % 97)
            if form is not None:
                check(form)
                for file in form.files.values():
                    file.stream.close()

    asyncio.run(run())


def test_any_multipart_form_is_parsed_or_refused() -> None:
    parsed = 0

    def check(form: form_body.ParsedForm) -> None:
        nonlocal parsed
        parsed += 1
        assert len(form.files) <= form_body.MAX_FILES
        assert len(form.fields) <= 20

    run_forms(check, ROUNDS)
    assert parsed > ROUNDS // 20


@pytest.mark.parametrize("charset", [b"punycode", b"idna", b"utf-7", b"zlib", b"undefined", b"cp500"])
def test_form_with_a_charset_of_its_own_is_refused(charset: bytes) -> None:
    body = b'--cut\r\nContent-Disposition: form-data; name="a"\r\n\r\n' + b"a" * 5000 + b"\r\n--cut--\r\n"
    content_type = TYPES[0] + b"; charset=" + charset
    assert asyncio.run(parse_form(content_type, body, 1000)) is None


@pytest.mark.parametrize(
    "body",
    [
        FORM.removesuffix(b"--cut--\r\n"),
        b"--cut\r\n" + b"X: 1\r\n" * 20_000,
        b"--cut\r\nX: " + b"x" * 100_000,
        b"--cut\r\n" + b"x" * 100_000,
        b"\r\n--cu" * 20_000,
        b"--cut\r\nContent-Disposition: form-data; name=" + b'"' * 100_000 + b"\r\n\r\n\r\n--cut--\r\n",
        FORM.partition(b"--cut--")[0] * 50 + b"--cut--\r\n",
    ],
    ids=["no end", "headers", "long header", "long name", "half boundaries", "quotes", "parts"],
)
def test_hostile_form_is_refused(body: bytes) -> None:
    assert asyncio.run(parse_form(TYPES[0], body, 1000)) is None
