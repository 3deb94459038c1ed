"""Checks the tables of the pages on relays: their codes match those of the carriers."""

import re

from docs import generate
from pabal.carriers.nhncloud import codes as nhncloud_codes
from pabal.carriers.solapi import codes as solapi_codes
from pabal.domain.sends.message import OUTCOME_BY_NUMBER, Outcome

NHN_CLOUD, SOLAPI = (
    (generate.DOCS / "how-to" / f"{name}.md").read_text(encoding="utf-8") for name in ("nhncloud", "solapi")
)


def test_page_of_nhn_cloud_lists_every_result_code_with_its_own_meaning() -> None:
    listed: dict[bool, dict[str, Outcome]] = {True: {}, False: {}}
    for number, texts, talks in re.findall(
        r"^\| ([0-9]{4}) [^|]+\| ([^|]*) ?\| ?([^|]*)\|$", NHN_CLOUD, re.MULTILINE
    ):
        for is_text, words in ((True, texts), (False, talks)):
            listed[is_text] |= {code: OUTCOME_BY_NUMBER[int(number)] for code in re.findall(r"\w+", words)}

    assert listed == {True: nhncloud_codes.SMS_OUTCOMES, False: nhncloud_codes.TALK_OUTCOMES}


def test_every_code_of_a_refusal_that_the_page_of_nhn_cloud_names_is_known() -> None:
    refusals = NHN_CLOUD.partition("The effect of a refused call")[2]
    named = {int(code) for code in re.findall(r"-[0-9]{4}\b(?!-)", refusals)}

    assert len(named) > 10
    assert named <= {*nhncloud_codes._SMS, *nhncloud_codes._TALK}


def test_page_of_solapi_lists_every_status_code_with_its_own_meaning() -> None:
    rows = re.findall(r"^\| ([0-9]{4}) [^|]+\| ([^|]*) ?\|$", SOLAPI, re.MULTILINE)
    listed = {code: OUTCOME_BY_NUMBER[int(number)] for number, words in rows for code in re.findall(r"\w+", words)}

    assert listed == solapi_codes.OUTCOMES
