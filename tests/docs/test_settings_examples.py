"""Loads every settings file that a page shows, and checks the rules of the page on monitoring."""

import re
from pathlib import Path

import pytest
import yaml

from docs import generate
from pabal.settings.settings import load
from tests.fixtures.pages import blocks, section

PAGES = sorted(
    path
    for path in generate.DOCS.glob("**/*.md")
    if path.relative_to(generate.DOCS).parts[0] not in ("ko", "decisions")
)
BASES = {
    "[carriers.telco.errors]": '[carriers.telco]\nkind = "smpp"\nhost = "smsc.example"\nsystem_id = "pabal"\n',
    'sms = ["telco", "backup"]': '[carriers.telco]\nkind = "simulator"\n[carriers.backup]\nkind = "simulator"\n',
}
"""What stands before an example that is only a part of a file, by a line of it."""


EXAMPLES = [
    pytest.param(block, id=f"{page.stem} {number}")
    for page in PAGES
    for number, block in enumerate(blocks(page.read_text(encoding="utf-8"), "toml"), 1)
]
SCRAPED = ("job", "instance")
"""Labels that Prometheus adds."""


@pytest.mark.parametrize("example", EXAMPLES)
def test_settings_file_of_a_page_can_be_used(tmp_path: Path, example: str) -> None:
    for name in re.findall(r"/etc/pabal/([\w.-]+)", example):
        (tmp_path / name).write_text("a secret" if name.endswith("password") else "a secret of some length\n")
    base = "".join(text for line, text in BASES.items() if line in example.splitlines())
    file = tmp_path / "pabal.toml"
    file.write_text(base + example.replace("/etc/pabal/", f"{tmp_path}/"), encoding="utf-8")

    settings = load({}, file=file)

    assert settings.carriers


def test_rules_of_monitoring_use_labels_that_the_metrics_have() -> None:
    operate = section("operate")
    labels = {
        name: {*re.findall(r"\w+", words), "le"}
        for name, words in re.findall(r"^\| `(pabal_\w+)` \|([^|]*)\|", operate, re.MULTILINE)
    }
    _, rules = (yaml.safe_load(block) for block in blocks(section("monitoring"), "yaml"))
    alerts = [rule["expr"] for group in rules["groups"] for rule in group["rules"]]
    questions = re.findall(r"^\|[^|]+\| `([^`]+)` \|$", section("monitoring"), re.MULTILINE)
    expressions = [*alerts, *(each for each in questions if "pabal_" in each)]

    assert len(alerts) >= 8
    assert len(expressions) > len(alerts)
    for expression in expressions:
        metrics = re.findall(r"pabal_\w+", expression)
        known = set().union(*(labels[each.removesuffix("_bucket")] for each in metrics))
        named = re.findall(r"(\w+)(?:=~|!=|!~|=)\"", expression)
        grouped = [word for by in re.findall(r"by \(([^)]*)\)", expression) for word in re.findall(r"\w+", by)]
        assert {*named, *grouped} <= {*known, *SCRAPED}, expression


def test_targets_of_monitoring_are_those_of_the_interface_and_the_workers() -> None:
    scraped, _ = (yaml.safe_load(block) for block in blocks(section("monitoring"), "yaml"))

    (job,) = scraped["scrape_configs"]

    assert job["job_name"] == "pabal"
    assert [each["labels"]["part"] for each in job["static_configs"]] == ["interface", "worker"]
