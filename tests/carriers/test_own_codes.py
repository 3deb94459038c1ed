"""Every carrier passes its peer's own codes along, in verdicts and in receipts."""

from typing import Any

import pytest

from pabal.carriers.base import Accepted, Busy, Rejected, Unknown, code_of
from pabal.carriers.nhncloud import codes as nhncloud_codes
from pabal.carriers.nhncloud import results as nhncloud_results
from pabal.carriers.smpp import protocol
from pabal.carriers.smpp.receipt_parser import parse_receipt
from pabal.carriers.solapi import codes as solapi_codes
from pabal.carriers.solapi import lookup as solapi_results
from pabal.carriers.solapi.client import OWN_ID, ListedMessage
from pabal.domain.sends.message import Outcome
from tests.carriers.smpp.test_receipt_parser import receipt


@pytest.mark.parametrize(
    ("text", "tlvs", "code"),
    [
        ("id:1 stat:UNDELIV err:015", {}, "UNDELIV 015"),
        ("id:1 stat:DELIVRD", {}, "DELIVRD"),
        ("", {protocol.RECEIPTED_MESSAGE_ID: b"1\0", protocol.MESSAGE_STATE: b"\x05"}, "5"),
        (
            "",
            {
                protocol.RECEIPTED_MESSAGE_ID: b"1\0",
                protocol.MESSAGE_STATE: b"\x05",
                protocol.NETWORK_ERROR_CODE: b"\x03\x00\x22",
            },
            "5 34",
        ),
    ],
)
def test_smpp_receipt_has_state_and_error(text: str, tlvs: dict[int, bytes], code: str) -> None:
    parsed = parse_receipt(receipt(text, tlvs=tlvs))

    assert parsed is not None
    assert parsed.code == code


@pytest.mark.parametrize("code", [-4019, -2009, -2018, -3010, -1])
def test_nhncloud_verdict_has_the_result_code(code: int) -> None:
    kind = nhncloud_codes.error_kind_of(code, is_text=code > -3000)

    assert code_of(nhncloud_codes.verdict_for(kind, str(code))) == str(code)


def test_nhncloud_receipt_has_the_result_code() -> None:
    rows: list[dict[str, Any]] = [
        {"requestId": "r", "recipientSeq": 1, "resultCode": "3019"},
        {"requestId": "r", "recipientSeq": 2, "resultCode": None, "messageStatus": "FAILED"},
    ]

    found = nhncloud_results._receipts(rows, is_text=False)

    assert [each.code for each in found] == ["3019", None]


def test_solapi_verdict_and_receipt_have_the_status_code() -> None:
    row = ListedMessage(messageId="M1", statusCode="3104", customFields={OWN_ID: "0" * 32})

    (found,) = solapi_results._receipts([row])

    assert found.code == "3104"
    assert [code_of(solapi_codes.verdict_for(each)) for each in ("1030", "1060", "1010")] == [
        "1030",
        "1060",
        "1010",
    ]


def test_codes_do_not_count_when_verdicts_are_compared() -> None:
    assert Rejected(Outcome.SPAM, "1") == Rejected(Outcome.SPAM, "2")
    assert Busy("1") == Busy()
    assert code_of(Accepted("r")) is code_of(Unknown()) is None
