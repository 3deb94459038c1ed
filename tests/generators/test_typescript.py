"""Types that openapi-typescript makes of the document compile strictly, and openapi-fetch drives the service."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pabal.web.endpoints.table import ENDPOINTS
from tests.fakes.smsc.peer import NODE, PACKAGES
from tests.generators.conftest import Target

HERE = Path(__file__).parent
DOCS = HERE.parents[1] / "docs"
PAGE = DOCS / "how-to" / "other-languages.md"
CAMPAIGN = DOCS / "examples" / "campaign.ts"
TIMEOUT_S = 120
STRICT = [
    "--strict",
    "--exactOptionalPropertyTypes",
    "--noUncheckedIndexedAccess",
    "--noImplicitReturns",
    "--noUnusedLocals",
    "--noEmit",
    "--allowImportingTsExtensions",
    "--module",
    "nodenext",
    "--target",
    "es2024",
    "--lib",
    "es2024,dom,dom.iterable",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, target: Target) -> Path:
    """A folder with the generated types, the program that uses them, and the packages it needs."""
    made = tmp_path_factory.mktemp("typescript")
    (made / "package.json").write_text('{"type": "module"}')
    (made / "node.d.ts").write_text("declare const process: { argv: string[] };")  # callers have @types/node
    (made / "node_modules").symlink_to(PACKAGES)
    for program in (HERE / "drive.ts", HERE / "lint.mjs", CAMPAIGN):
        shutil.copy(program, made)
    (block,) = re.findall(r"^```ts\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    example = block.replace("http://127.0.0.1:8080", target.base_url).replace("pb_…", target.key)
    (made / "example.ts").write_text(example, encoding="utf-8")
    run_node(made, PACKAGES / "openapi-typescript/bin/cli.js", target.document, "--output", "schema.d.ts")
    return made


def run_node(folder: Path, *words: str | Path) -> str:
    """Run a program by Node.js and return what it prints."""
    run = subprocess.run([NODE, *words], cwd=folder, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


@pytest.mark.slow
def test_program_with_generated_types_compiles_strictly(folder: Path) -> None:
    programs = ["drive.ts", "example.ts", "campaign.ts"]

    run_node(folder, PACKAGES / "typescript/bin/tsc", *STRICT, "node.d.ts", *programs)


@pytest.mark.torture
@pytest.mark.slow
def test_program_with_generated_types_drives_every_operation(folder: Path, target: Target) -> None:
    called = json.loads(run_node(folder, "--no-warnings", "drive.ts", *target.arguments))

    assert set(called) == {endpoint.path for endpoint in ENDPOINTS}


@pytest.mark.slow
def test_example_of_the_page_sends(folder: Path) -> None:
    assert re.fullmatch(r"[0-9a-f]{26}\n", run_node(folder, "--no-warnings", "example.ts"))


@pytest.mark.torture
@pytest.mark.slow
def test_redocly_finds_no_error_in_the_document(folder: Path, target: Target) -> None:
    problems = json.loads(run_node(folder, "lint.mjs", target.document))

    assert problems == []
