"""Checks that everything the documents name exists: paths, settings, codes, metrics, commands, links, tests."""

import argparse
import re
import shlex
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from prometheus_client.metrics_core import CounterMetricFamily, Metric

from docs import generate
from pabal.carriers.smpp.protocol import STATUS_NAMES
from pabal.cli import main
from pabal.domain.base.codes import Code
from pabal.domain.sends.field_warning import WarningCode
from pabal.service.metrics import Metrics
from pabal.settings.environment import ENVIRONMENT_PREFIX
from pabal.settings.settings import FIELDS
from pabal.web.endpoints.table import ENDPOINT_BY_PATH

VARIABLES = {f"{ENVIRONMENT_PREFIX}{each.upper()}" for each in FIELDS}
OTHER_VARIABLES = {"PABAL_CONFIG", "PABAL_TORTURE", "PABAL_TEST_CITUS"}
OTHER_NAMES = {"pabal_restored", "pabal_device", "pabal_clock"}
"""A database, a cookie and a fixture."""
OTHER_CAPITALS = {
    "ARGS",
    "CELERY_BROKER_URL",
    "HEALTH_URL",
    "INVALID",
    "LANG",
    "LC_ALL",
    "LC_MESSAGES",
    "POSTGRESQL_FILES",
    "PYTHON",
    "ROWS_A_STATEMENT",
    "SO_REUSEPORT",
    "UNDELIV",
}
RELAY_WORDS = {"CANCEL", "COMPLETED", "DUPLICATED", "FAILED", "IMAGE", "READY", "WIDE_IMAGE"}
"""What NHN Cloud's API calls states of messages and types of pictures."""
OUR_COMMAND = re.compile(r"^(?:\S*/bin/)?pabal (.+)$|(?:exec \S+ -- |run --rm \w+ )(?:pabal )?(.+)$")
"""A line that runs a command of ours: on this machine, or in a container or pod."""
MADE_FILES = {"deploy/compose/.env", "deploy/compose/carriers.env"}
"""Files that readers make."""
CAPITALS = {*Code.__members__, *WarningCode.__members__, *STATUS_NAMES.values(), *OTHER_CAPITALS, *RELAY_WORDS}


def find_wrong_names(root: Path) -> Iterator[str]:
    """Yield a line for everything that a document names although it does not exist, or leaves out."""
    documents = {
        str(path.relative_to(root)): path.read_text(encoding="utf-8")
        for path in sorted([*root.glob("*.md"), *root.glob("docs/**/*.md")])
    }
    for name, text in documents.items():
        yield from (f"{name}: {each}" for each in _unknown_names(name, text))
        yield from (f"{name}: a link leads nowhere: {link}" for link in _broken_links(root / name, text))
        yield from (f"{name}: not a command: {each}" for each in _unknown_commands(text))
        paths = {*re.findall(r"(?<![\w/])deploy/[\w/.*@-]+[\w/]", text)} - MADE_FILES
        yield from (f"{name}: no such file: {each}" for each in sorted(paths) if not any(root.glob(each)))
    yield from _find_left_out(documents)
    yield from _find_untested_promises(root, documents.get("docs/promises.md", ""))
    yield from _find_wrong_packages(root, documents.get("ARCHITECTURE.md", ""))
    yield from _find_stale_pages(root)


def _unknown_names(name: str, text: str) -> Iterator[str]:
    def unknown(pattern: str, known: Iterable[str], what: str) -> Iterator[str]:
        return (f"no such {what}: {each}" for each in sorted({*re.findall(pattern, text)} - {*known}))

    yield from unknown(r"/api/[A-Za-z]+/[A-Za-z]+\.v[0-9.]+[0-9]", ENDPOINT_BY_PATH, "endpoint")
    yield from unknown(rf"\b{ENVIRONMENT_PREFIX}[A-Z_]+", VARIABLES | OTHER_VARIABLES, "variable")
    yield from unknown(r"(?:settings?|설정) \[?`([a-z_]+)", FIELDS, "setting")
    yield from unknown(rf"`(?!{ENVIRONMENT_PREFIX})([A-Z][A-Z_]{{3,}})`", CAPITALS, "result code")
    if name != "CHANGELOG.md":  # it names renamed ones
        metric = r"\bpabal_[a-z_]+?(?=_bucket\b|(?<=[a-z])\b)"
        yield from unknown(metric, metric_names() | OTHER_NAMES, "metric")


def _broken_links(here: Path, text: str) -> Iterator[str]:
    for link in re.findall(r"\]\(([^)]+)\)", text):
        if not link.startswith("https://"):
            path, _, fragment = link.partition("#")
            target = (here.parent / path).resolve() if path else here
            if not target.exists() or (fragment and fragment not in _anchors(target)):
                yield link


@cache
def _anchors(page: Path) -> set[str]:
    """Return the fragments that Markdown renderers give to a page's headings."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@cache
def metric_names() -> frozenset[str]:
    """Return the metrics that exist, as /metrics shows their names."""

    def full_name(metric: Metric) -> str:
        return f"{metric.name}_total" if metric.type == CounterMetricFamily("a", "b").type else metric.name

    return frozenset(full_name(metric) for metric in Metrics().collect())


@cache
def _parser() -> argparse.ArgumentParser:
    return main.build_parser()


def _unknown_commands(text: str) -> Iterator[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    for line in (line for block in blocks for line in block.splitlines()):
        if found := OUR_COMMAND.search(line):
            try:
                given = _parser().parse_args(shlex.split(found[1] or found[2], comments=True))
            except SystemExit:
                yield line
            else:
                if not any(hasattr(given, each) for each in ("run", "run_call", "run_alone")):
                    yield line


def _find_left_out(documents: dict[str, str]) -> Iterator[str]:
    readme = documents.get("README.md", "")
    guides = readme + "".join(text for name, text in documents.items() if name.startswith("docs/how-to/"))
    yield from (f"docs/how-to: no guide has {path}" for path in ENDPOINT_BY_PATH if path not in guides)
    pages = {name for name in documents if name.startswith(("docs/how-to/", "docs/reference/"))}
    linked = re.findall(r"\]\((docs/[^)#]+\.md)", readme)
    yield from (f"README.md: no link to {name}" for name in sorted(pages - {*linked}))


def _find_untested_promises(root: Path, text: str) -> Iterator[str]:
    for promise in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        title = promise.splitlines()[0]
        files = re.findall(r"`(tests/[\w/]+\.py)`", promise)
        if not files:
            yield f"docs/promises.md: no test holds: {title}"
        yield from (f"docs/promises.md: no such test: {each}" for each in files if not (root / each).is_file())


def _find_wrong_packages(root: Path, text: str) -> Iterator[str]:
    source = root / "src" / "pabal"
    tree = text.partition("```\nsrc/pabal/\n")[2].partition("docs/")[0]
    named: set[str] = set()
    folders = [""]
    for line in tree.splitlines():
        indent, names = re.match(r"( *)((?:\w+/ ?)*)", line).groups()  # type: ignore[union-attr]
        depth = len(indent) // 2
        for name in names.split():
            folders = [*folders[:depth], f"{folders[depth - 1]}{name}"]
            named.add(folders[-1])
    files = (file for file in source.rglob("*.*") if "__pycache__" not in file.parts)
    there = {f"{each}/" for file in files for each in file.relative_to(source).parents if each != Path()}
    yield from (f"ARCHITECTURE.md: no such package: {each}" for each in sorted(named - there))
    yield from (f"ARCHITECTURE.md: a package is missing: {each}" for each in sorted(there - named))


def _find_stale_pages(root: Path) -> Iterator[str]:
    for name, text in generate.pages().items():
        page = root / "docs" / name
        if not page.is_file() or page.read_text(encoding="utf-8") != text:
            yield f"docs/{name}: out of date; run `make docs`"
