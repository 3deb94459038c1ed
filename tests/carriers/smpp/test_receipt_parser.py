from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pabal.carriers.smpp import protocol
from pabal.carriers.smpp.pdu import Address, ShortMessage
from pabal.carriers.smpp.receipt_parser import Base, ParsedReceipt, normalize_message_id, parse_receipt
from pabal.domain.sends.message import Outcome

PHONE = Address(1, 1, "821012345678")
SERVICE = Address(0, 0, "15880000")
USUAL = "id:4F2A sub:001 dlvrd:001 submit date:2401311200 done date:2401311201 stat:DELIVRD err:000 text:안녕"


def receipt(text: str = "", esm_class: int = 0x04, tlvs: Mapping[int, bytes] | None = None) -> ShortMessage:
    return ShortMessage(PHONE, SERVICE, text.encode("cp949"), esm_class=esm_class, tlvs=tlvs or {})


def reported(deliver: ShortMessage, errors: Mapping[str, Outcome] | None = None) -> ParsedReceipt:
    report = parse_receipt(deliver, errors or {})
    assert report
    return report


def test_standard_receipt_has_id_and_outcome() -> None:
    assert parse_receipt(receipt(USUAL)) == ParsedReceipt(
        "4F2A", Outcome.DELIVERED, None, "01012345678", "DELIVRD 000"
    )


@pytest.mark.parametrize(
    ("state", "word", "outcome"),
    [
        (0, "SCHEDULED", None),
        (1, "ENROUTE", None),
        (2, "DELIVRD", Outcome.DELIVERED),
        (3, "EXPIRED", Outcome.TIMED_OUT),
        (4, "DELETED", Outcome.UNDELIVERABLE),
        (5, "UNDELIV", Outcome.UNDELIVERABLE),
        (6, "ACCEPTD", None),
        (7, "UNKNOWN", Outcome.UNKNOWN),
        (8, "REJECTD", Outcome.UNDELIVERABLE),
        (9, "BUFFRED", None),
        (255, "?", None),
    ],
)
def test_state_is_read_from_the_text_or_the_tlv(state: int, word: str, outcome: Outcome | None) -> None:
    assert reported(receipt(f"id:1 stat:{word}")).outcome is outcome
    assert reported(receipt(f"ID:1 STAT:{word.lower()}")).outcome is outcome
    assert reported(receipt("id:1", tlvs={protocol.MESSAGE_STATE: bytes((state,))})).outcome is outcome


@pytest.mark.parametrize(
    ("text", "message_id", "outcome"),
    [
        ("stat:DELIVRD id:7", "7", Outcome.DELIVERED),
        ("Id:7 Sub:001 Dlvrd:001 Stat:Delivrd Err:000 Text:", "7", Outcome.DELIVERED),
        ("id: 7 stat: UNDELIV", "7", Outcome.UNDELIVERABLE),
        ("id :7  stat :EXPIRED", "7", Outcome.TIMED_OUT),
        ("id:7\nstat:DELIVRD\0", "7", Outcome.DELIVERED),
        ("id:a-b_c@d/e:f#1 stat:DELIVRD", "a-b_c@d/e:f#1", Outcome.DELIVERED),
        ("id: sub:001 stat:DELIVRD", "", Outcome.DELIVERED),
        ("id:7 stat: err:000", "7", None),
        ("id:7", "7", None),
        ("id:7 stat:DELIVRD text:id:8 stat:UNDELIV", "7", Outcome.DELIVERED),
        ("id:7 stat:DELIVRD text: id:8 stat:UNDELIV", "7", Outcome.DELIVERED),
        ("grid:8 id:7 status:1 stat:DELIVRD", "7", Outcome.DELIVERED),
        ("", "", None),
    ],
)
def test_fields_are_read_in_any_order_and_case(text: str, message_id: str, outcome: Outcome | None) -> None:
    report = reported(receipt(text))

    assert (report.message_id, report.outcome) == (message_id, outcome)


def test_tlvs_take_precedence_over_the_text() -> None:
    options = {protocol.RECEIPTED_MESSAGE_ID: b"told\0", protocol.MESSAGE_STATE: b"\x05"}

    report = reported(receipt(USUAL, tlvs=options))

    assert (report.message_id, report.outcome) == ("told", Outcome.UNDELIVERABLE)


def test_empty_tlvs_are_ignored() -> None:
    empty = {
        protocol.RECEIPTED_MESSAGE_ID: b"\0",
        protocol.MESSAGE_STATE: b"",
        protocol.USER_MESSAGE_REFERENCE: b"",
    }

    assert parse_receipt(receipt(USUAL, tlvs=empty)) == parse_receipt(receipt(USUAL))


def test_user_message_reference_is_read() -> None:
    assert (
        reported(receipt(USUAL, tlvs={protocol.USER_MESSAGE_REFERENCE: b"\xab\xcd"})).user_message_reference
        == 0xABCD
    )
    assert reported(receipt(USUAL, tlvs={protocol.USER_MESSAGE_REFERENCE: b"\0\0"})).user_message_reference == 0


@pytest.mark.parametrize(
    "deliver",
    [
        ShortMessage(PHONE, SERVICE, "id:1 stat:DELIVRD".encode("utf-16-be"), esm_class=4, data_coding=8),
        ShortMessage(PHONE, SERVICE, b"id:1 stat:DELIVRD", esm_class=4, data_coding=3),
        ShortMessage(PHONE, SERVICE, b"id:1 stat:DELIVRD", esm_class=4, data_coding=0xF1),
        ShortMessage(PHONE, SERVICE, b"\x05\0\x03\1\1\1id:1 stat:DELIVRD", esm_class=0x44),
        ShortMessage(PHONE, SERVICE, b"", esm_class=4, tlvs={protocol.MESSAGE_PAYLOAD: b"id:1 stat:DELIVRD"}),
    ],
)
def test_receipt_is_read_in_any_text_encoding(deliver: ShortMessage) -> None:
    assert parse_receipt(deliver) == ParsedReceipt("1", Outcome.DELIVERED, None, "01012345678", "DELIVRD")


@pytest.mark.parametrize("esm_class", [0x00, 0x01, 0x03, 0x80])
def test_unmarked_receipt_is_recognized_by_its_id(esm_class: int) -> None:
    tlvs = {protocol.RECEIPTED_MESSAGE_ID: b"9\0"}

    assert reported(receipt("", esm_class, tlvs)).message_id == "9"
    assert parse_receipt(receipt(USUAL, esm_class, tlvs)) == parse_receipt(receipt(USUAL, tlvs=tlvs))


@pytest.mark.parametrize("esm_class", [0x00, 0x01, 0x03, 0x80])
def test_unmarked_receipt_text_is_accepted_only_if_configured(esm_class: int) -> None:
    forged = receipt(USUAL, esm_class)

    assert parse_receipt(forged) is None
    assert parse_receipt(forged, accepts_unmarked=False) is None
    assert parse_receipt(forged, accepts_unmarked=True) == parse_receipt(receipt(USUAL))


@pytest.mark.parametrize("text", ["", "안녕", "id:5", "stat:DELIVRD", "my id: 5, stat"])
def test_message_from_a_person_is_not_a_receipt(text: str) -> None:
    assert parse_receipt(receipt(text, 0x00), accepts_unmarked=True) is None


@pytest.mark.parametrize("esm_class", [0x08, 0x10, 0x18])
def test_phone_acknowledgement_is_not_a_receipt(esm_class: int) -> None:
    assert parse_receipt(receipt(USUAL, esm_class)) is None


def test_intermediate_notification_is_not_final() -> None:
    assert reported(receipt("id:1 stat:UNDELIV err:001", 0x20)).outcome is None


@pytest.mark.parametrize(
    ("text", "options", "outcome"),
    [
        ("id:1 stat:UNDELIV err:027", {}, Outcome.PHONE_OFF),
        ("id:1 stat:UNDELIV err:27", {}, Outcome.PHONE_OFF),
        ("id:1 stat:UNDELIV err:0a1", {}, Outcome.SPAM),
        ("id:1 stat:UNDELIV err:A1", {}, Outcome.SPAM),
        ("id:1 stat:EXPIRED err:027", {}, Outcome.PHONE_OFF),
        ("id:1 stat:UNKNOWN err:027", {}, Outcome.PHONE_OFF),
        ("id:1 stat:WHATEVER err:027", {}, None),
        ("id:1 stat:UNDELIV err:028", {}, Outcome.UNDELIVERABLE),
        ("id:1 stat:EXPIRED err:028", {}, Outcome.TIMED_OUT),
        ("id:1 stat:UNDELIV", {}, Outcome.UNDELIVERABLE),
        ("id:1 stat:DELIVRD err:027", {}, Outcome.DELIVERED),
        ("id:1 stat:ENROUTE err:027", {}, None),
        ("id:1 stat:UNDELIV", {protocol.NETWORK_ERROR_CODE: b"\x03\x00\x1b"}, Outcome.PHONE_OFF),
        ("id:1 stat:UNDELIV err:000", {protocol.NETWORK_ERROR_CODE: b"\x03\x01\x00"}, Outcome.NO_SUBSCRIBER),
        ("id:1 stat:UNDELIV err:A1", {protocol.NETWORK_ERROR_CODE: b"\x03\x01\x00"}, Outcome.SPAM),
        ("id:1 stat:UNDELIV", {protocol.NETWORK_ERROR_CODE: b""}, Outcome.UNDELIVERABLE),
    ],
)
def test_configured_error_code_refines_a_failed_state(
    text: str, options: dict[int, bytes], outcome: Outcome | None
) -> None:
    errors = {"27": Outcome.PHONE_OFF, "0a1": Outcome.SPAM, "256": Outcome.NO_SUBSCRIBER}

    assert reported(receipt(text, tlvs=options), errors).outcome is outcome


@pytest.mark.parametrize(
    ("digits", "phone"),
    [
        ("821012345678", "01012345678"),
        ("+821012345678", "01012345678"),
        ("8201012345678", "01012345678"),
        ("01012345678", "01012345678"),
        ("82212345678", "0212345678"),
        ("15880000", "15880000"),
        ("+12125550100", "+12125550100"),
        ("PABAL", "PABAL"),
        ("", ""),
    ],
)
def test_phone_is_in_national_format(digits: str, phone: str) -> None:
    assert reported(receipt(USUAL)._replace(source=Address(1, 1, digits))).phone == phone


@pytest.mark.parametrize(
    ("message_id", "base", "reference"),
    [
        (" 4F2a ", "text", "4F2a"),
        ("0042", "text", "0042"),
        ("7\n8\r\n", "text", "78"),
        ("\x00\t 7\x1b\x7f\x85\u2028 \x01", "text", "7"),
        ("4F\n2a", "hex", "20266"),
        ("\n", "decimal", ""),
        ("4F2a", "hex", "20266"),
        ("0x4f2A", "hex", "20266"),
        ("00004f2a", "hex", "20266"),
        (" 20266 ", "decimal", "20266"),
        ("0000020266", "decimal", "20266"),
        ("0", "decimal", "0"),
        ("4f2a", "decimal", "4f2a"),
        ("-5", "decimal", "-5"),
        ("1_000", "decimal", "1_000"),
        ("٣", "decimal", "٣"),
        ("a-b", "hex", "a-b"),
        ("", "hex", ""),
        ("0x", "hex", "0x"),
        ("f" * 128, "hex", str(16**128 - 1)),
        ("f" * 129, "hex", "f" * 129),
        ("9" * 9999, "decimal", "9" * 9999),
    ],
)
def test_ids_of_responses_and_receipts_are_normalized(message_id: str, base: Base, reference: str) -> None:
    assert normalize_message_id(message_id, base) == reference


@given(st.integers(0, 2**64))
def test_same_number_in_hex_and_decimal_is_the_same_id(number: int) -> None:
    assert (
        normalize_message_id(f"{number:x}", "hex")
        == normalize_message_id(f"{number:020}", "decimal")
        == str(number)
    )


@given(st.text(), st.sampled_from(["text", "hex", "decimal"]))
def test_any_id_is_normalized_without_error(message_id: str, base: Base) -> None:
    once = normalize_message_id(message_id, base)

    assert base == "hex" or normalize_message_id(once, base) == once
    assert once.splitlines() == [once] * bool(once)


words = st.sampled_from(["id", "ID :", "stat:", " ", "err:", "sub:", "DELIVRD", "text:", "1", "\0", "가"])


@given(
    st.lists(words).map("".join) | st.text(),
    st.integers(0, 255),
    st.sampled_from([0, 3, 8, 14]),
    st.booleans(),
    st.dictionaries(
        st.sampled_from(
            [
                protocol.RECEIPTED_MESSAGE_ID,
                protocol.MESSAGE_STATE,
                protocol.NETWORK_ERROR_CODE,
                protocol.MESSAGE_PAYLOAD,
            ]
        ),
        st.binary(max_size=5),
    ),
)
def test_any_deliver_sm_is_parsed_without_error(
    text: str, esm_class: int, data_coding: int, believes_text: bool, options: dict[int, bytes]
) -> None:
    deliver = ShortMessage(
        PHONE, SERVICE, text.encode("utf-16-be", "replace"), esm_class, data_coding, tlvs=options
    )

    report = parse_receipt(deliver, {"1": Outcome.SPAM}, accepts_unmarked=believes_text)

    has_option = protocol.RECEIPTED_MESSAGE_ID in options
    assert report is None or has_option or " " not in report.message_id
