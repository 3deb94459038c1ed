"""Checks that the pages of docs/reference/ match the code."""

import re
from pathlib import Path

import pytest

from docs import generate
from pabal.carriers.simulator import outcome_for
from pabal.domain.sends.message import Attempt, Product

SIMULATORS = [generate.FOLDER / "simulator.md", generate.DOCS / "ko" / "reference" / "simulator.md"]


def test_every_page_of_the_reference_is_generated_or_the_simulator() -> None:
    found = {path for simulator in SIMULATORS for path in simulator.parent.iterdir()}

    assert found == {*(generate.DOCS / name for name in generate.pages()), *SIMULATORS}


def test_check_fails_for_a_stale_page_and_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "ko" / "reference" / "errors.md"
    page.parent.mkdir(parents=True)
    page.write_text("stale", encoding="utf-8")

    assert generate.main(["--check"], tmp_path) == 1

    assert "ko/reference/errors.md" in capsys.readouterr().err
    assert page.read_text(encoding="utf-8") == "stale"


def test_generated_pages_pass_the_check(tmp_path: Path) -> None:
    assert generate.main([], tmp_path) == 0

    assert generate.main(["--check"], tmp_path) == 0


@pytest.mark.parametrize("number", [f"0100000000{last}" for last in range(1, 9)])
@pytest.mark.parametrize("product", [Product.SMS, Product.ALIMTALK, Product.FRIENDTALK_TEXT])
@pytest.mark.parametrize("page", SIMULATORS, ids=["en", "ko"])
def test_simulator_page_lists_the_outcomes_of_its_numbers(page: Path, number: str, product: Product) -> None:
    shown = f"{number[:3]}-{number[3:7]}-{number[7:]}"
    row = next(line for line in page.read_text(encoding="utf-8").splitlines() if line.startswith(f"| {shown}"))

    fate = outcome_for(Attempt(bytes(16), 1, 1, product, number, "0212345678", None, "text"))

    listed = re.findall(r"(?<![0-9])[1239][0-9]{3}(?![0-9])", row)
    outcomes = [fate.rejection] if fate.rejection else [outcome for _, outcome in fate.receipts]
    is_usual_text = product is Product.SMS and re.search("texts arrive|문자는 도착합니다|문자와 .*도착합니다", row)
    assert is_usual_text or {str(outcome.number) for outcome in outcomes} <= set(listed)
