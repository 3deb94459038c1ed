"""`pabal profile` and `pabal template` manage sender profiles and templates."""

import pytest

from pabal.store.kakao import templates as kept_templates
from tests.fixtures.cli import CommandLine, add_profile, add_template_under_review


def test_profiles_are_listed_disabled_and_enabled(new_command_line: CommandLine) -> None:
    new_command_line.run_in_context(add_profile)

    ((number, name, channel, status, use, _),) = new_command_line("profile", "list").rows
    assert (name, channel, status, use) == ("acme", "@shop", "approval", "in use")

    assert new_command_line("profile", "disable", number).out == f"profile {number} is disabled\n"
    assert new_command_line("profile", "list").rows[0][4] == "disabled"
    assert new_command_line("profile", "enable", number).out == f"profile {number} is in use\n"
    unknown = new_command_line("profile", "disable", "999")
    assert unknown.status == 2
    assert "pabal profile list" in unknown.err


@pytest.mark.parametrize(("word", "status"), [("approve", "approved"), ("reject", "rejected")])
def test_template_under_review_is_decided_once(new_command_line: CommandLine, word: str, status: str) -> None:
    new_command_line.run_in_context(add_template_under_review)
    assert new_command_line("template", "list").rows == [
        ["1", "@shop", "order", "inspecting", "주문 보류", "in use"]
    ]

    decided = new_command_line("template", word, "1", "--comment", "읽었습니다")

    assert (decided.status, decided.out) == (0, f"template 1 is {status}\n")
    assert new_command_line("template", "list").rows[0][3] == status
    kept = new_command_line.run_in_context(lambda context: context.store.read(kept_templates.get_by_id, 1))
    assert kept.comment == "읽었습니다"
    again = new_command_line("template", word, "1")
    assert again.status == 1
    assert again.err.startswith("pabal: ")
    assert new_command_line("template", word, "999").status == 1
