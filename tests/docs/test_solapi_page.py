"""Checks the page on Solapi: its files load, and its codes match the carrier's."""

import re
from pathlib import Path

import pytest

from docs import generate
from pabal.carriers.solapi import codes
from pabal.domain.sends.message import OUTCOME_BY_NUMBER
from pabal.settings.relays import SolapiSettings
from pabal.settings.settings import load

PAGE = (generate.FOLDER.parent / "how-to" / "solapi.md").read_text(encoding="utf-8")
FILES = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
ENDS = re.findall(r"^\| ([0-9]{4}) [^|]+\| ([^|]*) ?\|$", PAGE, re.MULTILINE)


@pytest.mark.parametrize("text", FILES, ids=["first", "second relay"])
def test_every_file_of_the_page_can_be_used_as_it_is(tmp_path: Path, text: str) -> None:
    secrets = re.findall(r"/etc/pabal/([\w.-]+)", text)
    for name in secrets:
        (tmp_path / name).write_text("a secret of some length\n")
    file = tmp_path / "pabal.toml"
    file.write_text(text.replace("/etc/pabal/", f"{tmp_path}/"), encoding="utf-8")

    settings = load({}, file=file)

    assert secrets
    assert isinstance(settings.carriers["solapi"], SolapiSettings)
    assert {"sms", "lms", "mms", "alimTalk"} <= set(settings.routes)
    assert all("solapi" in carriers for carriers in settings.routes.values())


def test_page_lists_every_status_code_with_its_own_meaning() -> None:
    listed = {code: OUTCOME_BY_NUMBER[int(number)] for number, words in ENDS for code in re.findall(r"\w+", words)}

    assert listed == codes.OUTCOMES
