"""Checks what single pages must say; that all they name exists is checked by `tools/lint/documents.py`."""

import re

import pytest

from docs import generate
from pabal.domain.base.codes import Code
from tests.fixtures.pages import section
from tools.lint.documents import metric_names


def text_of(name: str) -> str:
    return (generate.DOCS.parent / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("heading", ["One machine", "Several machines"])
def test_every_way_under_systemd_ends_with_a_key_and_a_console_user(heading: str) -> None:
    text = section("systemd", heading)

    assert "\npabal key create " in text
    assert "\npabal user create admin --role operator\n" in text


@pytest.mark.parametrize("name", ["docs/how-to/error-handling.md", "docs/how-to/idempotency.md"])
def test_repeating_an_unavailable_service_is_advised_only_with_a_key(name: str) -> None:
    rows = [line for line in text_of(name).splitlines() if line.startswith("| `SERVICE_UNAVAILABLE`")]

    assert rows
    assert all("same" in row and "key" in row.lower() for row in rows)
    assert "Idempotency-Key" in Code.SERVICE_UNAVAILABLE.remedy.en
    assert "Idempotency-Key" in Code.SERVICE_UNAVAILABLE.remedy.ko


@pytest.mark.parametrize("page", ["docs/how-to/operate.md", "docs/ko/how-to/operate.md"])
def test_operators_page_lists_exactly_the_metrics_that_exist(page: str) -> None:
    listed = set(re.findall(r"^\| `((?:pabal|process)_\w+)`", text_of(page), re.MULTILINE))

    assert listed == metric_names()
