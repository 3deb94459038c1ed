"""URL-encoded forms: decoded as the standard library does it, in short turns of the event loop."""

import asyncio
from random import Random
from urllib.parse import parse_qsl, quote, urlencode

import pytest

from pabal.console.shell.form_body import TURN_BYTES, parse_urlencoded

MAX_FIELDS = 1000


def parse(body: bytes) -> list[tuple[str, str]]:
    return asyncio.run(parse_urlencoded(body, MAX_FIELDS))


@pytest.mark.parametrize(
    "body",
    ["", "&", "a", "a=", "=a", "a=b&a=c", "a=b=c", "a+b=c+d%2B", "&&a=1&&", "a=%", "a=%z1%4", "a=1;b=2",
     "%EA%B0%80=%25"],
)  # fmt: skip
def test_form_is_decoded_as_the_standard_library_does(body: str) -> None:
    assert parse(body.encode()) == parse_qsl(body, keep_blank_values=True)


@pytest.mark.parametrize("shift", range(9))
def test_long_texts_are_decoded_whole_wherever_they_are_cut(shift: int) -> None:
    value = "x" * shift + "가" * TURN_BYTES + "%"
    assert parse(urlencode({"a": value, "b": value}).encode()) == [("a", value), ("b", value)]


def test_random_forms_are_decoded_as_the_standard_library_does() -> None:
    rng = Random(1)
    for _ in range(200):
        body = "".join(rng.choices(("%", "%4", "%41", "+", "=", "&", "x", quote("가")), k=rng.randint(0, 50)))
        assert parse(body.encode()) == parse_qsl(body, keep_blank_values=True), body


def test_raw_utf_8_is_decoded() -> None:
    assert parse("이름=가".encode()) == [("이름", "가")]


@pytest.mark.parametrize("body", [b"a=%ff", b"a=\xff", b"%EA=1", b"&" * MAX_FIELDS])
def test_form_that_is_not_text_or_has_too_many_fields_is_refused(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"too many fields|can't decode"):
        parse(body)


@pytest.mark.parametrize("fields", [1, 900])
def test_other_tasks_get_their_turn_while_a_long_form_is_decoded(fields: int) -> None:
    body = urlencode({str(number): "가" * (100_000 // fields) for number in range(fields)}).encode()

    async def scenario() -> int:
        turns = 0

        async def count_turns() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        counting = asyncio.create_task(count_turns())
        await parse_urlencoded(body, MAX_FIELDS)
        counting.cancel()
        return turns

    assert asyncio.run(scenario()) >= len(body) // (2 * TURN_BYTES)
