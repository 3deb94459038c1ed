import re
from collections.abc import Callable
from contextlib import suppress
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pabal.carriers.smpp import pdu, protocol
from pabal.carriers.smpp.pdu import Address, Bind, InvalidLength, InvalidPdu, Pdu, ShortMessage

READERS: list[Callable[[bytes], object]] = [
    pdu.decode_bind,
    pdu.decode_short_message,
    pdu.decode_message_id,
]

octet = st.integers(0, 0xFF)
word32 = st.integers(0, 0xFFFFFFFF)
latin_1 = st.characters(min_codepoint=1, max_codepoint=0xFF)


def field(max_length: int) -> st.SearchStrategy[str]:
    return st.text(latin_1, max_size=max_length)


addresses = st.builds(Address, octet, octet, field(20))
options = st.dictionaries(st.integers(0, 0xFFFF), st.binary(max_size=40), max_size=4)
submits = st.builds(
    ShortMessage,
    source=addresses,
    destination=addresses,
    short_message=st.binary(max_size=254),
    esm_class=octet,
    data_coding=octet,
    registered_delivery=octet,
    service_type=field(5),
    protocol_id=octet,
    priority=octet,
    schedule=field(16),
    validity=field(16),
    replace=octet,
    default_message=octet,
    tlvs=options,
)
binds = st.builds(Bind, field(15), field(8), field(12), octet, octet, octet, field(40))
pdus = st.builds(Pdu, word32, word32, word32, st.binary(max_size=60))

PLAIN = ShortMessage(Address(0, 0, "15880000"), Address(1, 1, "821012345678"), b"hi")


def framed(each: Pdu) -> bytes:
    return pdu.encode_pdu(each.command, each.sequence, each.body, each.status)


def octets(spelling: str) -> bytes:
    """Return the octets of hex digits; text in brackets is a comment."""
    return bytes.fromhex(re.sub(r"\[.*?\]", " ", spelling))


SUBMIT_HEX = """
    [length] 00000037 [submit_sm] 00000004 [status] 00000000 [sequence] 00000007
    [service_type] 00
    [source] 00 00 31 35 38 38 30 30 30 30 00
    [destination] 01 01 38 32 31 30 31 32 33 34 35 36 37 38 00
    [esm_class] 40 [protocol_id] 00 [priority] 00 [schedule] 00 [validity] 00
    [registered_delivery] 01 [replace] 00 [data_coding] 08 [default_message] 00 [length] 02 [가] AC00
"""


def test_submit_sm_is_encoded_as_specified() -> None:
    submit = ShortMessage(
        Address(0, 0, "15880000"),
        Address(1, 1, "821012345678"),
        "가".encode("utf-16-be"),
        esm_class=0x40,
        data_coding=8,
        registered_delivery=1,
    )

    assert pdu.encode_pdu(protocol.SUBMIT_SM, 7, pdu.encode_short_message(submit)) == octets(SUBMIT_HEX)
    [read], consumed = pdu.split_pdus(octets(SUBMIT_HEX))
    assert consumed == 0x37
    assert read[:3] == (protocol.SUBMIT_SM, protocol.OK, 7)
    assert pdu.decode_short_message(read.body) == submit


def test_deliver_sm_fields_are_encoded_as_specified() -> None:
    deliver = ShortMessage(
        Address(1, 2, "A"),
        Address(3, 4, "B"),
        b"!",
        esm_class=5,
        protocol_id=6,
        priority=7,
        schedule="C",
        validity="D",
        registered_delivery=8,
        replace=9,
        data_coding=10,
        default_message=11,
        service_type="E",
        tlvs={protocol.USER_MESSAGE_REFERENCE: b"\x12\x34", protocol.MESSAGE_STATE: b"\x02"},
    )
    body = octets("4500 01024100 03044200 05 06 07 4300 4400 08 09 0A 0B 01 21 02040002 1234 04270001 02")

    assert pdu.encode_short_message(deliver) == body
    assert pdu.decode_short_message(body) == deliver


def test_bind_is_encoded_as_specified() -> None:
    whole = octets("""
        [length] 00000025 [bind_transceiver] 00000009 [status] 00000000 [sequence] 00000001
        [system_id] 706162616C 00 [password] 736563726574 00 [system_type] 564D53 00
        [interface_version] 34 [ton] 00 [npi] 00 [address_range] 00
    """)

    assert pdu.encode_pdu(protocol.BIND_TRANSCEIVER, 1, pdu.encode_bind(Bind("pabal", "secret", "VMS"))) == whole
    assert pdu.decode_bind(whole[pdu.HEADER_OCTETS :]) == Bind("pabal", "secret", "VMS", 0x34, 0, 0, "")


@pytest.mark.parametrize(
    ("frame", "spelling"),
    [
        (pdu.encode_pdu(protocol.ENQUIRE_LINK, 1), "00000010 00000015 00000000 00000001"),
        (pdu.encode_pdu(protocol.ENQUIRE_LINK | protocol.RESPONSE, 1), "00000010 80000015 00000000 00000001"),
        (pdu.encode_pdu(protocol.UNBIND, 0x7FFFFFFF), "00000010 00000006 00000000 7FFFFFFF"),
        (
            pdu.encode_pdu(protocol.GENERIC_NACK, 0, status=protocol.RINVCMDLEN),
            "00000010 80000000 00000002 00000000",
        ),
        (
            pdu.encode_pdu(protocol.SUBMIT_SM | protocol.RESPONSE, 2, pdu.encode_message_id("1f")),
            "00000013 80000004 00000000 00000002 316600",
        ),
        (
            pdu.encode_pdu(protocol.SUBMIT_SM | protocol.RESPONSE, 3, status=protocol.RTHROTTLED),
            "00000010 80000004 00000058 00000003",
        ),
    ],
)
def test_pdu_header_has_length_command_status_and_sequence(frame: bytes, spelling: str) -> None:
    assert frame == octets(spelling)


def test_pdu_has_at_most_128_kib() -> None:
    largest = b"x" * (pdu.MAX_PDU_OCTETS - pdu.HEADER_OCTETS)

    assert pdu.split_pdus(pdu.encode_pdu(protocol.SUBMIT_SM, 1, largest)) == (
        [Pdu(protocol.SUBMIT_SM, 0, 1, largest)],
        pdu.MAX_PDU_OCTETS,
    )
    with pytest.raises(ValueError, match="131072 octets"):
        pdu.encode_pdu(protocol.SUBMIT_SM, 1, largest + b"x")


@pytest.mark.parametrize("length", [0, 1, 15, pdu.MAX_PDU_OCTETS + 1, 0x80000000, 0xFFFFFFFF])
@pytest.mark.parametrize("rest", [b"", b"x", b"x" * 12, b"x" * 100])
def test_invalid_length_is_raised_with_the_preceding_pdus(length: int, rest: bytes) -> None:
    before = [Pdu(protocol.ENQUIRE_LINK, 0, 1, b""), Pdu(protocol.UNBIND, 0, 2, b"")]
    data = b"".join(map(framed, before)) + length.to_bytes(4, "big") + rest

    with pytest.raises(InvalidLength) as bad:
        pdu.split_pdus(data)

    assert bad.value.preceding == before
    assert str(length) in str(bad.value)


@pytest.mark.parametrize(
    "data", [b"", b"\0", b"\xff\xff\xff", b"\0\0\0\x10", b"\0\x02\0\0", bytes.fromhex("11".zfill(8))]
)
def test_incomplete_pdu_is_left_for_later(data: bytes) -> None:
    assert pdu.split_pdus(data) == ([], 0)
    assert pdu.split_pdus(pdu.encode_pdu(protocol.UNBIND, 1) + data) == ([Pdu(protocol.UNBIND, 0, 1, b"")], 16)


@given(st.lists(pdus, max_size=5), st.binary(max_size=3))
def test_pdus_are_split_as_they_were_joined(joined: list[Pdu], rest: bytes) -> None:
    data = b"".join(map(framed, joined))

    assert pdu.split_pdus(data + rest) == (joined, len(data))


@given(st.lists(pdus, max_size=5), st.lists(st.integers(0, 400), max_size=8))
def test_pdus_are_the_same_in_any_chunks(joined: list[Pdu], cuts: list[int]) -> None:
    data = b"".join(map(framed, joined))
    edges = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]

    read: list[Pdu] = []
    held = b""
    for start, end in pairwise(edges):
        held += data[start:end]
        found, consumed = pdu.split_pdus(held)
        read += found
        held = held[consumed:]

    assert read == joined
    assert held == b""


@given(st.binary(max_size=200))
def test_any_octets_are_split_or_have_an_invalid_length(data: bytes) -> None:
    try:
        found, consumed = pdu.split_pdus(data)
    except InvalidLength as bad:
        found, consumed = bad.preceding, sum(pdu.HEADER_OCTETS + len(each.body) for each in bad.preceding)

    assert b"".join(map(framed, found)) == data[:consumed]


@given(submits)
def test_submit_sm_is_decoded_as_encoded(submit: ShortMessage) -> None:
    assert pdu.decode_short_message(pdu.encode_short_message(submit)) == submit


@given(binds)
def test_bind_is_decoded_as_encoded(bind: Bind) -> None:
    assert pdu.decode_bind(pdu.encode_bind(bind)) == bind


@given(field(64))
def test_message_id_is_decoded_as_encoded(message_id: str) -> None:
    assert pdu.decode_message_id(pdu.encode_message_id(message_id)) == message_id


@pytest.mark.parametrize(
    ("body", "message_id"),
    [
        (b"", ""),
        (b"\0", ""),
        (b"abc", "abc"),
        (b"x" * 300 + b"\0", "x" * 300),
        (b"pabal\0\x02\x10\0\x01\x34", "pabal"),
        (b"\xe9\0", "é"),
    ],
)
def test_malformed_message_id_is_decoded(body: bytes, message_id: str) -> None:
    assert pdu.decode_message_id(body) == message_id


@pytest.mark.parametrize("read", READERS)
@given(data=st.data())
def test_any_octets_are_decoded_or_an_invalid_pdu(read: Callable[[bytes], object], data: st.DataObject) -> None:
    body = data.draw(st.binary(max_size=120) | st.lists(st.sampled_from(b"\0\1\4a"), max_size=80).map(bytes))

    with suppress(InvalidPdu):
        read(body)


@given(submits | binds, st.data())
def test_damaged_body_is_decoded_or_an_invalid_pdu(whole: ShortMessage | Bind, data: st.DataObject) -> None:
    body = bytearray(pdu.encode_short_message(whole) if isinstance(whole, ShortMessage) else pdu.encode_bind(whole))
    for at in data.draw(st.lists(st.integers(0, len(body) - 1), max_size=3)):
        body[at] = data.draw(octet)
    damaged = bytes(body[: data.draw(st.integers(0, len(body)))])

    for read in READERS:
        with suppress(InvalidPdu):
            read(damaged)


def test_truncated_body_is_invalid() -> None:
    submit, bind = pdu.encode_short_message(PLAIN), pdu.encode_bind(Bind("pabal", "secret", "VMS"))

    for end in range(len(submit)):
        with pytest.raises(InvalidPdu):
            pdu.decode_short_message(submit[:end])
    for end in range(len(bind)):
        with pytest.raises(InvalidPdu):
            pdu.decode_bind(bind[:end])


@pytest.mark.parametrize("rest", ["00", "0204", "020400", "02040002", "0204000212", "0204FFFF1234"])
def test_tlv_longer_than_the_body_is_invalid(rest: str) -> None:
    with pytest.raises(InvalidPdu):
        pdu.decode_short_message(pdu.encode_short_message(PLAIN) + octets(rest))


def test_tlv_may_be_empty_and_the_last_of_two_counts() -> None:
    read = pdu.decode_short_message(pdu.encode_short_message(PLAIN) + octets("130C0000 04270001 01 04270001 02"))

    assert read.tlvs == {0x130C: b"", protocol.MESSAGE_STATE: b"\x02"}


def test_user_data_is_in_short_message_or_payload() -> None:
    payload = {protocol.MESSAGE_PAYLOAD: b"x" * 2000}

    assert PLAIN.user_data == b"hi"
    assert PLAIN._replace(short_message=b"").user_data == b""
    assert PLAIN._replace(short_message=b"", tlvs=payload).user_data == b"x" * 2000
    assert (
        pdu.decode_short_message(
            pdu.encode_short_message(PLAIN._replace(short_message=b"", tlvs=payload))
        ).user_data
        == b"x" * 2000
    )


@pytest.mark.parametrize(
    ("name", "max_length", "written"),
    [
        ("system_id", 15, lambda text: pdu.encode_bind(Bind(text, ""))),
        ("password", 8, lambda text: pdu.encode_bind(Bind("", text))),
        ("system_type", 12, lambda text: pdu.encode_bind(Bind("", "", text))),
        ("address_range", 40, lambda text: pdu.encode_bind(Bind("", "", address_range=text))),
        ("source", 20, lambda text: pdu.encode_short_message(PLAIN._replace(source=Address(0, 0, text)))),
        ("destination", 20, lambda text: pdu.encode_short_message(PLAIN._replace(destination=Address(0, 0, text)))),
        ("service_type", 5, lambda text: pdu.encode_short_message(PLAIN._replace(service_type=text))),
        ("schedule", 16, lambda text: pdu.encode_short_message(PLAIN._replace(schedule=text))),
        ("validity", 16, lambda text: pdu.encode_short_message(PLAIN._replace(validity=text))),
        ("message_id", 64, pdu.encode_message_id),
    ],
)
def test_field_refuses_long_values_nul_and_hangul(
    name: str, max_length: int, written: Callable[[str], bytes]
) -> None:
    assert b"x" * max_length + b"\0" in written("x" * max_length)

    for wrong in ("x" * (max_length + 1), "a\0b", "가"):
        with pytest.raises(ValueError, match=f"^{name} has") as error:
            written(wrong)
        assert wrong not in str(error.value)


def test_short_message_has_at_most_254_octets() -> None:
    assert (
        pdu.decode_short_message(pdu.encode_short_message(PLAIN._replace(short_message=b"x" * 254))).user_data
        == b"x" * 254
    )

    with pytest.raises(ValueError, match="short_message has at most 254"):
        pdu.encode_short_message(PLAIN._replace(short_message=b"x" * 255))


@pytest.mark.parametrize(
    "wrong",
    [
        PLAIN._replace(esm_class=256),
        PLAIN._replace(data_coding=-1),
        PLAIN._replace(source=Address(256, 0, "1")),
        PLAIN._replace(destination=Address(0, 999, "1")),
        PLAIN._replace(tlvs={0x10000: b""}),
        PLAIN._replace(tlvs={-1: b""}),
        PLAIN._replace(tlvs={protocol.MESSAGE_PAYLOAD: b"x" * 0x10000}),
    ],
)
def test_number_or_tlv_too_large_is_refused(wrong: ShortMessage) -> None:
    with pytest.raises(ValueError, match="octet"):
        pdu.encode_short_message(wrong)


def test_bind_refuses_numbers_too_large() -> None:
    with pytest.raises(ValueError, match="range"):
        pdu.encode_bind(Bind("", "", ton=256))


def test_status_is_named_as_its_constant() -> None:
    named = {name: status for status, name in protocol.STATUS_NAMES.items()}

    assert len(named) == len(protocol.STATUS_NAMES)
    assert named["ESME_ROK"] == protocol.OK
    assert named["ESME_RTHROTTLED"] == protocol.RTHROTTLED == 0x58
    for name, status in named.items():
        assert getattr(pdu, name.removeprefix("ESME_"), status) == status
