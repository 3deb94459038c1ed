"""Which unknown fields of a send are refused."""

from typing import Any

import msgspec
import pytest

from pabal.checks.body.unknown_fields import OTHER_NAMES, check_body, check_query
from pabal.domain.base.codes import Code, Refused

KNOWN = ("content", "sender", "receivers", "sendDate", "expireMinutes")
ELSEWHERE = (*KNOWN, "adFlag", "resendPhoneNumber", "templateCode")
SPELLINGS = [
    *OTHER_NAMES,
    "scheduledDate",
    "scheduled_at",
    "SEND-TIME",
    "testModeYN",
    "dryRun",
    "dry_run",
    "senddate",
    "send_date",
    "sendDat",
    "sendDates",
    "senfDate",
    "snedDate",
    "expireMinute",
    "expire_minutes",
    "adFalg",
    "ad_flag",
    "resendPhoneNumbr",
]


def refused_fields(body: dict[str, Any]) -> list[str]:
    try:
        check_body(KNOWN, ELSEWHERE, msgspec.json.encode(body))
    except Refused as refusal:
        return [problem.field for problem in refusal.problems if problem.code is Code.INVALID_PARAMETER]
    return []


@pytest.mark.parametrize("name", SPELLINGS)
def test_field_that_sounds_like_one_of_ours_is_refused(name: str) -> None:
    assert refused_fields({"content": "x", name: "2026-12-24 18:00"}) == [name]


@pytest.mark.parametrize(
    "name", ["zzz", "title", "sendDateX1", "date", "sendnumber", "flag", "e" * 9000, "", "한글"]
)
def test_other_unknown_fields_are_not(name: str) -> None:
    assert refused_fields({name: "1"}) == []


@pytest.mark.parametrize("value", [None, False, "", [], {}])
def test_empty_values_are_not(value: Any) -> None:
    assert refused_fields({"scheduledDate": value, "dryRun": value}) == []


def test_field_of_another_send_is_refused_only_if_it_is_a_time() -> None:
    body = {"adFlag": True, "resendPhoneNumber": "02-1234-5678", "templateCode": "T"}
    assert refused_fields(body) == []
    with pytest.raises(Refused) as refusal:
        check_body((), ELSEWHERE, msgspec.json.encode(body | {"sendDate": "2026-12-24 18:00"}))
    assert [problem.field for problem in refusal.value.problems] == ["sendDate"]


def test_names_inside_other_fields_are_not_looked_at() -> None:
    assert refused_fields({"receivers": [{"scheduledDate": "1", "templateData": {"ttl": "1"}}]}) == []


def test_body_with_half_a_character_is_read() -> None:
    with pytest.raises(Refused) as refusal:
        check_body(KNOWN, ELSEWHERE, b'{"note": "\\ud800", "dryRun": true}')

    assert [problem.field for problem in refusal.value.problems] == ["dryRun"]


def test_refusal_says_what_to_write_instead() -> None:
    with pytest.raises(Refused) as refusal:
        check_query(["scheduledDate", "dryRun", "page"])

    details = [problem.detail for problem in refusal.value.problems]
    assert [detail.en for detail in details if detail] == [
        'Use sendDate, such as "sendDate": "2026-12-24 09:00"',
        "A dry run is asked for by a header: Dry-Run: true",
        "This request takes fields in its body alone.",
    ]
