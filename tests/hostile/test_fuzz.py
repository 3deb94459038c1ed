"""Fuzzing of the parsers with a corpus: each input is parsed, or refused in the way the parser declares."""

import json
from collections.abc import Callable

import pytest
from msgspec import Struct

from pabal.answers.message_records import parse_inbound_cursor
from pabal.carriers.smpp import encoding, pdu, protocol, receipt_parser, receipts
from pabal.checks import webhooks as webhook_checks
from pabal.checks.body import forms
from pabal.checks.body.caller_addresses import get_caller_address
from pabal.checks.body.locale import choose_language
from pabal.domain.base.codes import LANGUAGES, MAX_PROBLEMS, Code, Refused
from pabal.domain.content import variables
from pabal.domain.events import event
from pabal.web.endpoints import history
from pabal.web.endpoints.table import ENDPOINTS
from tests.fixtures.console import Browser
from tests.fixtures.full_bodies import FULL_BODIES
from tests.fixtures.virtual import Environment
from tests.hostile.mutate import ROUNDS, mutations

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("operation", FULL_BODIES)
def test_any_json_body_is_parsed_or_refused(operation: str) -> None:
    endpoint = next(each for each in ENDPOINTS if each.path == f"/api/{operation}.v1.0")
    body = json.dumps(FULL_BODIES[operation], ensure_ascii=False).encode()
    escaped = json.dumps(FULL_BODIES[operation]).encode()
    parsed = 0

    for raw in mutations([body, escaped, b"{}"], seed=1):
        codes: list[Code] = []
        try:
            form = forms.parse_json(endpoint.body, raw)
        except Refused as refused:
            codes = [problem.code for problem in refused.problems]
        if codes:
            assert codes == [Code.INVALID_JSON], raw
            continue
        parsed += 1
        assert isinstance(form.body, Struct)
        assert len(form.problems) <= MAX_PROBLEMS + 20, raw

    assert parsed > 0


def _as_text(data: bytes) -> str:
    return data.decode("utf-8", errors="replace")


CURSORS = [event.format_cursor(each) for each in ({}, {0: 1}, {0: 2**50, 7: 2**50 + 3, 4095: 5})]
URLS = [
    "https://shop.example/pabal?a=1",
    "https://[2606:4700::1]:8443/",
    "https://가게.kr:443/결과",
    "https://8.8.8.8",
]


@pytest.mark.parametrize(
    ("parse", "corpus", "code"),
    [
        pytest.param(variables.split, ["#{a}님 #{b}", "#{#{a}}"], None, id="variables"),
        pytest.param(event.parse_cursor, CURSORS, None, id="cursor of results"),
        pytest.param(
            lambda given: history.parse_cursor(given, b"search"),
            [history.format_cursor(history.MessageCursor(bytes(16), 1, 2), b"search"), "f" * 52],
            Code.INVALID_PARAMETER,
            id="cursor of messages",
        ),
        pytest.param(parse_inbound_cursor, ["0", "1f", "f" * 15], Code.INVALID_PARAMETER, id="cursor of inbound"),
        pytest.param(webhook_checks.parse_id, ["1", "999999999"], Code.WEBHOOK_NOT_FOUND, id="webhook id"),
        pytest.param(webhook_checks.check_url, URLS, Code.INVALID_PARAMETER, id="url of a webhook"),
    ],
)
def test_any_spelling_is_parsed_or_refused_with_the_codes_of_its_kind(
    parse: Callable[[str], object], corpus: list[str], code: Code | None
) -> None:
    for data in mutations([entry.encode() for entry in corpus], seed=2, rounds=3 * ROUNDS):
        given = _as_text(data)
        found: list[Code] = []
        try:
            parse(given)
        except Refused as refused:
            found = [problem.code for problem in refused.problems]
        assert found in ([], [code]), given


def test_any_address_and_language_header_is_read_or_ignored() -> None:
    networks = ()
    for data in mutations([b"127.0.0.1, 10.0.0.1", b"::1", b"fe80::1%eth0", b"unknown, 1.2.3.4:80"], seed=3):
        get_caller_address("127.0.0.1", data.decode("latin-1"), networks)
    for data in mutations([b"ko-KR,ko;q=0.9,en;q=0.8", b"*", b"en;q=1e400"], seed=4):
        assert choose_language(data) in LANGUAGES


SUBMIT = pdu.encode_short_message(
    pdu.ShortMessage(
        pdu.Address(1, 1, "0212345678"),
        pdu.Address(1, 1, "821012345678"),
        "안녕".encode("utf-16-be"),
        esm_class=0x40,
        data_coding=8,
        validity="261115120000000R",
        tlvs={protocol.USER_MESSAGE_REFERENCE: b"\x01\x02"},
    )
)
RECEIPT_TEXT = (
    b"id:1234567890 sub:001 dlvrd:001 submit date:2611151200 done date:2611151201 stat:DELIVRD err:000 text:hello"
)
RECEIPT = pdu.encode_short_message(
    pdu.ShortMessage(
        pdu.Address(1, 1, "821012345678"),
        pdu.Address(1, 1, "0212345678"),
        RECEIPT_TEXT,
        esm_class=0x04,
        tlvs={protocol.RECEIPTED_MESSAGE_ID: b"1234567890\0", protocol.MESSAGE_STATE: b"\x02"},
    )
)
WRITTEN = pdu.encode_short_message(
    pdu.ShortMessage(
        pdu.Address(1, 1, "821012345678"),
        pdu.Address(1, 1, "0212345678"),
        bytes((5, 0, 3, 7, 2, 1)) + "수신거부".encode("utf-16-be"),
        esm_class=0x40,
        data_coding=8,
        tlvs={
            protocol.SAR_MSG_REF_NUM: b"\0\1",
            protocol.SAR_TOTAL_SEGMENTS: b"\2",
            protocol.SAR_SEGMENT_SEQNUM: b"\1",
        },
    )
)
BIND = pdu.encode_bind(pdu.Bind("pabal", "secret", "smpp"))
PDUS = [
    pdu.encode_pdu(command, 1, body)
    for command, body in (
        (0x00000004, SUBMIT),
        (0x00000005, RECEIPT),
        (0x00000009, BIND),
        (0x80000004, pdu.encode_message_id("1234567890")),
        (0x00000015, b""),
    )
]


def test_any_stream_of_pdus_is_split_decoded_or_refused() -> None:
    for data in mutations([*PDUS, b"".join(PDUS)], seed=5, rounds=5 * ROUNDS):
        try:
            pdus, used = pdu.split_pdus(data)
        except pdu.InvalidLength as error:
            pdus, used = error.preceding, 0
        assert used <= len(data)
        for found in pdus:
            for decode in (pdu.decode_short_message, pdu.decode_bind):
                try:
                    decode(found.body)
                except pdu.InvalidPdu:
                    continue
            pdu.decode_message_id(found.body)


def test_any_receipt_is_parsed_or_is_none() -> None:
    parsed = 0
    for body in mutations([RECEIPT, SUBMIT], seed=6, rounds=5 * ROUNDS):
        try:
            message = pdu.decode_short_message(body)
        except pdu.InvalidPdu:
            continue
        found = receipt_parser.parse_receipt(message, accepts_unmarked=True)
        if found is not None:
            parsed += 1
            for base in ("text", "hex", "decimal"):
                stored = receipt_parser.normalize_message_id(found.message_id, base)
                assert "\n" not in stored
                assert "\0" not in stored
        encoding.decode_text(message.user_data, message.data_coding, bool(message.esm_class & protocol.HAS_UDH))
    assert parsed > 0


def test_any_inbound_message_is_parsed_and_can_be_stored() -> None:
    parsed = 0
    for body in mutations([WRITTEN, SUBMIT], seed=16, rounds=5 * ROUNDS):
        try:
            message = pdu.decode_short_message(body)
        except pdu.InvalidPdu:
            continue
        found = receipts.parse_inbound(message)
        parsed += found.part is not None
        assert (found.sender + found.receiver).isprintable()
        found.content.encode("utf-16-be", "surrogatepass")
        assert found.part is None or 1 <= found.part.number <= found.part.total <= 255
    assert parsed > 0


async def test_any_cookie_of_the_console_is_read_or_ignored(env: Environment) -> None:
    cookies = [
        b"pabal_session=" + b"0" * 64,
        b"pabal_session=" + b"0" * 64 + b"; pabal_language=en; pabal_form=" + b"f" * 64,
        b'pabal_language="\\101"; a=b; =; ;;',
    ]
    for cookie in mutations(cookies, seed=7, rounds=ROUNDS // 5):
        answer = await Browser(env.service, cookie=cookie.decode("latin-1")).get("/console")

        assert answer.status in (303, 400), cookie
