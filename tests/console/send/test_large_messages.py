"""Large messages on the send page: the preview and the table of receivers stay small."""

import re

from tests.fixtures.console import signed_in_browser
from tests.fixtures.console_send import form, preview, preview_text
from tests.fixtures.virtual import Environment


async def test_preview_is_cut_where_values_multiply_the_text(env: Environment) -> None:
    browser = await signed_in_browser(env)
    fields = form("lms", content="#{a}" * 2000, receivers=f"01012345678,{'x' * 5000}")

    shown = await preview(browser, fields)

    assert len(shown.text) < 50_000
    assert "x" * 5000 in preview_text(shown)
    assert 'class="size over"' in shown.text


async def test_table_of_receivers_shows_the_first_variables_shortened(env: Environment) -> None:
    browser = await signed_in_browser(env)
    names = [f"n{number}" + "n" * 90 for number in range(25)]
    content = "".join(f"#{{{name}}}" for name in names)

    shown = await preview(browser, form("lms", content=content, receivers="\n".join(["01012345678"] * 5)))

    assert re.findall(r'<th scope="col">(n[0-9n]+…|…)</th>', shown.text) == [
        *(f"{name[:50]}…" for name in names[:20]),
        "…",
    ]
