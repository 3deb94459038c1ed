"""Checks the page on NHN Cloud: its files load, and its codes match the carrier's."""

import re
from pathlib import Path

import pytest

from docs import generate
from pabal.carriers.nhncloud import codes
from pabal.domain.sends.message import OUTCOME_BY_NUMBER, Outcome
from pabal.settings.relays import NhnCloudSettings
from pabal.settings.settings import load

PAGE = (generate.FOLDER.parent / "how-to" / "nhncloud.md").read_text(encoding="utf-8")
FILES = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
ENDS = re.findall(r"^\| ([0-9]{4}) [^|]+\| ([^|]*) ?\| ?([^|]*)\|$", PAGE, re.MULTILINE)


@pytest.mark.parametrize("text", FILES, ids=["first", "with an operator", "all by the relay"])
def test_every_file_of_the_page_can_be_used_as_it_is(tmp_path: Path, text: str) -> None:
    secrets = re.findall(r"/etc/pabal/([\w.-]+)", text)
    for name in secrets:
        (tmp_path / name).write_text("a-secret" if name.endswith("password") else "a secret of some length\n")
    file = tmp_path / "pabal.toml"
    file.write_text(text.replace("/etc/pabal/", f"{tmp_path}/"), encoding="utf-8")

    settings = load({}, file=file)

    assert secrets
    assert any(isinstance(each, NhnCloudSettings) for each in settings.carriers.values())
    assert {"sms", "lms", "alimTalk", "friendTalkText", "friendTalkImage", "friendTalkWideImage"} <= set(
        settings.routes
    )


def test_page_lists_every_result_code_with_its_own_meaning() -> None:
    listed: dict[bool, dict[str, Outcome]] = {True: {}, False: {}}
    for number, texts, talks in ENDS:
        for is_text, words in ((True, texts), (False, talks)):
            listed[is_text] |= {code: OUTCOME_BY_NUMBER[int(number)] for code in re.findall(r"\w+", words)}

    assert listed == {True: codes._SMS_OUTCOMES, False: codes._TALK_OUTCOMES}


def test_every_code_of_a_refusal_that_the_page_names_is_known() -> None:
    named = {
        int(code) for code in re.findall(r"-[0-9]{4}\b(?!-)", PAGE.partition("The effect of a refused call")[2])
    }

    assert len(named) > 10
    assert named <= {*codes._SMS, *codes._TALK}
