"""The console costs nothing to those who do not open it, and little to those who open one page."""

import subprocess
import sys

import pytest

from pabal.console.pages import PAGES, TEXTS
from pabal.console.shell.rendering import Templates
from pabal.domain.base.codes import LANGUAGES

HEAVY = ("jinja2", "argon2", "pabal.console.app")


def test_service_starts_without_importing_the_console() -> None:
    code = f"import sys, pabal.cli; print([name for name in {HEAVY} if name in sys.modules])"

    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)

    assert ran.stdout.strip() == "[]"


@pytest.mark.first_case
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_template_compiles_with_the_folder_of_its_page(language: str) -> None:
    templates = Templates(TEXTS, language)
    folders = {"shell", *(page.folder for page in PAGES)}

    for folder in folders:
        assert not templates.is_compiled(folder)
        templates.compile(folder)

    assert all(map(templates.is_compiled, folders))
    folders_of_templates = {name.rpartition("/")[0] for name in templates.names()}
    assert [
        each for each in folders_of_templates if not any(f"{of}/".startswith(f"{each}/") for of in folders)
    ] == []
