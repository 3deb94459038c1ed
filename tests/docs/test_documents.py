"""Checks that everything the documents name exists: paths, settings, codes, metrics, commands and links."""

import re
import shlex
from pathlib import Path

import pytest
from prometheus_client.metrics_core import CounterMetricFamily, Metric

from docs import generate
from pabal.carriers.smpp.protocol import STATUS_NAMES
from pabal.cli import main
from pabal.domain.codes import Code
from pabal.domain.field_warning import WarningCode
from pabal.service.metrics import Metrics
from pabal.settings.environment import ENVIRONMENT_PREFIX
from pabal.settings.settings import FIELDS
from pabal.web.endpoints import ENDPOINT_BY_PATH

ROOT = generate.FOLDER.parents[1]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
NAMES = [str(path.relative_to(ROOT)) for path in DOCUMENTS]

OTHER_VARIABLES = {"PABAL_CONFIG", "PABAL_TORTURE", "PABAL_TEST_CITUS"}
OTHER_NAMES = {"pabal_restored", "pabal_device"}
"""A database and a cookie."""
OTHER_CAPITALS = {
    "ARGS",
    "HEALTH_URL",
    "INVALID",
    "LANG",
    "LC_ALL",
    "LC_MESSAGES",
    "PYTHON",
    "ROWS_A_STATEMENT",
    "SO_REUSEPORT",
    "UNDELIV",
}

in_every_document = pytest.mark.parametrize("name", NAMES)


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@in_every_document
def test_every_path_of_the_interface_exists(name: str) -> None:
    named = set(re.findall(r"/api/[A-Za-z]+/[A-Za-z]+\.v[0-9.]+[0-9]", text_of(name)))

    assert named <= set(ENDPOINT_BY_PATH)


def test_every_endpoint_has_a_guide() -> None:
    guides = [name for name in NAMES if name == "README.md" or name.startswith("docs/how-to/")]
    named = "".join(map(text_of, guides))

    assert [path for path in ENDPOINT_BY_PATH if path not in named] == []


@in_every_document
def test_every_variable_is_a_setting(name: str) -> None:
    named = set(re.findall(rf"\b{ENVIRONMENT_PREFIX}[A-Z_]+", text_of(name)))

    assert named <= {f"{ENVIRONMENT_PREFIX}{each.upper()}" for each in FIELDS} | OTHER_VARIABLES


@in_every_document
def test_every_named_setting_exists(name: str) -> None:
    named = set(re.findall(r"(?:settings?|설정) \[?`([a-z_]+)", text_of(name)))

    assert named <= set(FIELDS)


@in_every_document
def test_every_result_code_exists(name: str) -> None:
    quoted = set(re.findall(r"`([A-Z][A-Z_]{3,})`", text_of(name)))
    codes = {word for word in quoted if not word.startswith(ENVIRONMENT_PREFIX)}

    assert codes <= {*Code.__members__, *WarningCode.__members__, *STATUS_NAMES.values(), *OTHER_CAPITALS}


@in_every_document
def test_every_link_leads_somewhere(name: str) -> None:
    here = ROOT / name
    links = re.findall(r"\]\(([^)]+)\)", text_of(name))

    for link in (link for link in links if not link.startswith("https://")):
        path, _, fragment = link.partition("#")
        target = (here.parent / path).resolve() if path else here
        assert target.exists(), link
        if fragment:
            assert fragment in anchors(target), link


def test_readme_links_every_page_for_users() -> None:
    pages = {name for name in NAMES if name.startswith(("docs/how-to/", "docs/reference/"))}
    linked = re.findall(r"\]\((docs/[^)#]+\.md)", text_of("README.md"))

    assert pages <= set(linked)


@pytest.mark.parametrize("heading", ["One machine", "Several machines"])
def test_every_way_under_systemd_ends_with_a_key_and_a_console_user(heading: str) -> None:
    section = text_of("docs/how-to/systemd.md").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]

    assert "\npabal key create " in section
    assert "\npabal user create admin --role operator\n" in section


@pytest.mark.parametrize("name", ["docs/how-to/error-handling.md", "docs/how-to/idempotency.md"])
def test_repeating_an_unavailable_service_is_advised_only_with_a_key(name: str) -> None:
    rows = [line for line in text_of(name).splitlines() if line.startswith("| `SERVICE_UNAVAILABLE`")]

    assert rows
    assert all("same" in row and "key" in row.lower() for row in rows)
    assert "Idempotency-Key" in Code.SERVICE_UNAVAILABLE.remedy.en
    assert "Idempotency-Key" in Code.SERVICE_UNAVAILABLE.remedy.ko


@in_every_document
def test_every_command_is_understood(name: str) -> None:
    blocks = re.findall(r"^```sh\n(.*?)^```", text_of(name), re.MULTILINE | re.DOTALL)
    commands = [line for block in blocks for line in block.splitlines() if line.startswith(".venv/bin/pabal ")]

    for command in commands:
        given = main._parser().parse_args(shlex.split(command, comments=True)[1:])
        assert hasattr(given, "run") or hasattr(given, "run_call"), command


@pytest.mark.parametrize("page", ["docs/how-to/operate.md", "docs/ko/how-to/operate.md"])
def test_operators_page_lists_exactly_the_metrics_that_exist(page: str) -> None:
    listed = set(re.findall(r"^\| `(pabal_\w+)`", text_of(page), re.MULTILINE))

    assert listed == {full_name(metric) for metric in Metrics().registry.collect()}


@pytest.mark.parametrize("name", [each for each in NAMES if each != "CHANGELOG.md"])  # it names renamed ones
def test_every_named_metric_exists(name: str) -> None:
    named = set(re.findall(r"\bpabal_[a-z_]+?(?=_bucket\b|(?<=[a-z])\b)", text_of(name)))

    assert named <= {full_name(metric) for metric in Metrics().registry.collect()} | OTHER_NAMES


def test_architecture_names_exactly_the_packages_that_exist() -> None:
    source = ROOT / "src" / "pabal"
    tree = text_of("ARCHITECTURE.md").partition("```\nsrc/pabal/\n")[2].partition("docs/")[0]
    named: set[str] = set()
    folders = [""]
    for line in tree.splitlines():
        indent, names = re.match(r"( *)((?:\w+/ ?)*)", line).groups()  # type: ignore[union-attr]
        depth = len(indent) // 2
        for name in names.split():
            folders = [*folders[:depth], f"{folders[depth - 1]}{name}"]
            named.add(folders[-1])

    there = {f"{path.relative_to(source)}/" for path in source.glob("**/") if path != source}
    assert named == {each for each in there if "__pycache__" not in each}


def full_name(metric: Metric) -> str:
    return f"{metric.name}_total" if metric.type == CounterMetricFamily("a", "b").type else metric.name


def anchors(page: Path) -> set[str]:
    """Return the fragments that Markdown renderers give to a page's headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_promise_names_existing_tests() -> None:
    promises = re.split(r"^## ", text_of("docs/promises.md"), flags=re.MULTILINE)[1:]

    held_by = {promise.splitlines()[0]: re.findall(r"`(tests/[\w/]+\.py)`", promise) for promise in promises}

    assert len(held_by) >= 14
    for promise, files in held_by.items():
        assert files, promise
        assert [file for file in files if not (ROOT / file).is_file()] == [], promise
