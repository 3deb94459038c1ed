import pytest
from hypothesis import given
from hypothesis import strategies as st

from pabal.domain.base import identifiers

instants = st.integers(0, 2**48 - 1)
slots = st.integers(0, 2**identifiers.SLOT_BITS - 1)
chances = st.integers(0, 2**identifiers.RANDOM_BITS - 1)
numbers = st.integers(0, identifiers.MAX_MESSAGE_NUMBER)
requests = st.builds(identifiers.make_request_id, instants, slots, chances)
NOW = 1_794_704_400_123


@given(instants, slots, chances, numbers)
def test_id_contains_time_slot_and_number(at: int, slot: int, chance: int, number: int) -> None:
    request = identifiers.make_request_id(at, slot, chance)
    message = identifiers.make_message_id(request, number)

    assert (len(request), len(message)) == (identifiers.REQUEST_ID_BYTES, identifiers.MESSAGE_ID_BYTES)
    assert identifiers.requested_at(request) == identifiers.requested_at(message) == at
    assert identifiers.slot_of(request) == identifiers.slot_of(message) == slot
    assert identifiers.request_id_of(message) == request
    assert identifiers.number_of(message) == number


@given(requests, numbers)
def test_formatted_id_parses_back(request_id: bytes, number: int) -> None:
    message = identifiers.make_message_id(request_id, number)

    assert identifiers.parse_request_id(request_id.hex()) == request_id
    assert identifiers.parse_message_id(message.hex()) == message


@given(instants, instants, slots, slots, chances, chances)
def test_ids_sort_by_request_time(a: int, b: int, slot_a: int, slot_b: int, x: int, y: int) -> None:
    first, second = identifiers.make_request_id(a, slot_a, x), identifiers.make_request_id(b, slot_b, y)

    assert a == b or (first < second) is (a < b)


@given(requests, numbers, numbers)
def test_messages_of_a_request_sort_by_number(request_id: bytes, m: int, n: int) -> None:
    first, second = identifiers.make_message_id(request_id, m), identifiers.make_message_id(request_id, n)

    assert (first < second) is (m < n)


@given(requests, requests, numbers)
def test_id_range_of_a_request_contains_exactly_its_messages(a: bytes, b: bytes, number: int) -> None:
    lowest, highest = identifiers.message_id_range(a)

    assert lowest <= identifiers.make_message_id(a, number) <= highest
    assert a == b or not lowest <= identifiers.make_message_id(b, number) <= highest


@given(instants, instants, slots, chances, numbers)
def test_ids_since_an_instant_are_those_of_requests_since(
    since: int, at: int, slot: int, chance: int, number: int
) -> None:
    message = identifiers.make_message_id(identifiers.make_request_id(at, slot, chance), number)

    assert (message >= identifiers.lowest_message_id(since)) is (at >= since)


@pytest.mark.parametrize("at", [-1, -62_135_596_800_000])
def test_since_before_1970_includes_everything(at: int) -> None:
    assert identifiers.lowest_message_id(at) == bytes(identifiers.MESSAGE_ID_BYTES)


def test_number_out_of_range_raises() -> None:
    request = identifiers.make_request_id(NOW, 0, 0)
    assert (
        identifiers.make_message_id(request, identifiers.MAX_MESSAGE_NUMBER)
        == identifiers.message_id_range(request)[1]
    )

    with pytest.raises(OverflowError):
        identifiers.make_message_id(request, identifiers.MAX_MESSAGE_NUMBER + 1)


REQUEST_WORD = identifiers.make_request_id(NOW, 7, 42).hex()
MESSAGE_WORD = identifiers.make_message_id(bytes.fromhex(REQUEST_WORD), 1).hex()


@pytest.mark.parametrize(
    "word",
    [
        "",
        "0",
        "request",
        REQUEST_WORD[:-1],
        REQUEST_WORD + "0",
        REQUEST_WORD.upper().replace("0", "A"),
        f" {REQUEST_WORD}",
        f"{REQUEST_WORD}\n",
        f"{REQUEST_WORD[:24]} {REQUEST_WORD[24:]}"[:26],
        "0x" + REQUEST_WORD[2:],
        "g" * 26,
        "０" * 26,
        "가" * 26,
        "\ud800" * 26,
        MESSAGE_WORD,
    ],
)
def test_invalid_request_id_is_none(word: str) -> None:
    assert identifiers.parse_request_id(word) is None


@pytest.mark.parametrize(
    "word",
    [
        "",
        MESSAGE_WORD[:-1],
        MESSAGE_WORD + "0",
        MESSAGE_WORD.upper().replace("0", "A"),
        f"{MESSAGE_WORD}\n",
        "g" * 32,
        "０" * 32,
        "123e4567-e89b-12d3-a456-426614174000",
        REQUEST_WORD,
    ],
)
def test_invalid_message_id_is_none(word: str) -> None:
    assert identifiers.parse_message_id(word) is None


@given(st.text())
def test_any_text_can_be_parsed(word: str) -> None:
    for read in (identifiers.parse_request_id, identifiers.parse_message_id):
        found = read(word)

        assert found is None or found.hex() == word


@given(requests, numbers)
def test_mark_of_a_message_has_16_bits_and_never_changes(request_id: bytes, number: int) -> None:
    message = identifiers.make_message_id(request_id, number)

    assert 0 <= identifiers.user_message_reference(message) <= 0xFFFF
    assert identifiers.user_message_reference(message) == identifiers.user_message_reference(bytes(message))


def test_messages_of_a_request_have_different_marks() -> None:
    request_id = identifiers.make_request_id(NOW, 0, 1)
    marks = {
        identifiers.user_message_reference(identifiers.make_message_id(request_id, number))
        for number in range(1000)
    }

    assert len(marks) > 980


def test_in_doubt_reference_contains_user_reference_and_receiver() -> None:
    assert identifiers.in_doubt_reference(0xAB, "01012345678") == "?01012345678#00ab"
    assert identifiers.in_doubt_reference(0xAB, "01012345678").startswith(identifiers.IN_DOUBT_PREFIX)
    assert identifiers.in_doubt_reference(0xAB, "01012345679") != identifiers.in_doubt_reference(
        0xAB, "01012345678"
    )
