"""What commands print is Korean where the locale is, and both languages say the same of the same values."""

import argparse
import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import pabal
from pabal.cli.doctor.finding import Level
from pabal.cli.main import build_parser
from pabal.cli.shared.table import measure
from pabal.domain.base.codes import LANGUAGES
from pabal.store.queue import carriers
from pabal.store.queue.carriers import CarrierState
from tests.fixtures.cli import CommandLine
from tests.fixtures.virtual import NOON

SRC = Path(pabal.__file__).parent
HANGUL = re.compile("[가-힣]")


@pytest.fixture
def korean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "ko_KR.UTF-8")


def texts_of(parser: argparse.ArgumentParser) -> Iterator[str | None]:
    yield from (parser.description, *(group.title for group in parser._action_groups))
    for action in parser._actions:
        yield action.help
        if isinstance(action, argparse._SubParsersAction):
            yield from (choice.help for choice in action._choices_actions)
            for command in action.choices.values():
                yield from texts_of(command)


def read_help() -> list[str]:
    return [text for text in texts_of(build_parser()) if text and text != argparse.SUPPRESS]


def pairs() -> Iterator[tuple[str, ast.expr, ast.expr]]:
    """Yield two arguments beside each other of which the first is Korean and the second a text too."""
    for path in SRC.glob("**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                for first, second in zip(node.args, node.args[1:], strict=False):
                    if HANGUL.search(literals(first)) and literals(second):
                        yield f"{path.relative_to(SRC)}:{first.lineno}", first, second


def literals(node: ast.expr) -> str:
    if isinstance(node, ast.JoinedStr):
        return "".join(str(each.value) for each in node.values if isinstance(each, ast.Constant))
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def values(node: ast.expr) -> set[str]:
    """Return the names of the values in a text; `ko` and `en` are parts of it that were put together before."""
    if not isinstance(node, ast.JoinedStr):
        return set(re.findall(r"\{([a-z_]+)[:}]", literals(node)))
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)} - {"ko", "en"}


def test_both_languages_tell_the_same_values() -> None:
    found = list(pairs())

    assert len(found) > 1000
    told_otherwise = {
        place: missing
        for place, ko, en in found
        if not HANGUL.search(literals(en)) and (missing := values(ko) - values(en))
    }
    assert told_otherwise == {}


def test_every_command_and_option_has_help_in_both_languages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    english = read_help()
    monkeypatch.setenv("LC_ALL", "ko_KR.UTF-8")
    korean = read_help()

    assert len(english) == len(korean) > 200
    assert [text for text in english if HANGUL.search(text)] == []
    assert {text for text in korean if not HANGUL.search(text)} <= {"waiting, sending, completed, fail, cancel"}


def test_commands_speak_korean(command_line: CommandLine, korean: None) -> None:
    refused = command_line("key", "create", "--account", "acne")
    unknown = command_line("number", "add", "112", "--account", "acme")
    revoked = command_line("key", "revoke", "1")
    found = command_line("doctor")

    assert refused.err == "pabal: 'acne' 계정이 없습니다. 혹시 acme입니까? 새로 만들려면 --new-account를 주세요\n"
    assert HANGUL.search(unknown.err)
    assert revoked.out == "키 1을(를) 폐기했습니다\n"
    assert "이상  쓸 수 있는 키가 없습니다\n      만드세요: `pabal key create --account NAME`\n" in found.out
    assert all(HANGUL.search(line) for line in found.out.splitlines()), found.out
    assert found.status == 1


def test_name_that_is_also_a_word_of_a_message_stays_as_it_is(new_command_line: CommandLine, korean: None) -> None:
    new_command_line.configure('[carriers.down]\nkind = "simulator"\n\n[routes]\nsms = ["down"]\n')
    state = CarrierState("down", "down", NOON, "down")
    new_command_line("key", "create", "--account", "acme")
    new_command_line.run_in_context(lambda context: context.store.write(carriers.save_state, state))

    found = new_command_line("doctor")

    (line,) = (each for each in found.out.splitlines() if "발송 경로 down" in each)
    assert re.fullmatch(r"이상  발송 경로 down: .+부터 연결되지 않음: down", line)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["key", "create"], "다음 인수가 필요합니다: --account"),
        (["key", "create", "--account"], "인수 --account: 값이 하나 필요합니다"),
        (["key", "revoke", "x"], "인수 id: 'x'은(는) int 값이 아닙니다"),
        (["doctor", "--wrong"], "알 수 없는 인수입니다: --wrong"),
        (["send", "fax"], "인수 kind: 'fax'은(는) 쓸 수 없습니다. 다음 가운데 고르세요: 'sms', 'lms'"),
        (["history", "--limit", "0"], "인수 --limit: 1부터 1,000,000까지의 수여야 합니다"),
        (["nonsense"], "'nonsense'은(는) 쓸 수 없습니다"),
    ],
)
def test_wrong_arguments_are_told_in_korean(
    new_command_line: CommandLine, korean: None, words: list[str], said: str
) -> None:
    refused = new_command_line.run(*words)

    assert refused.status == 2
    assert refused.err.startswith("사용법: pabal")
    assert said in refused.err


def test_settings_are_described_in_korean(new_command_line: CommandLine, korean: None) -> None:
    lines = new_command_line("settings").out.splitlines()

    assert "port = 8080" in lines
    assert all(HANGUL.search(line) for line in lines if line.startswith("    ")), lines


def test_words_of_findings_have_one_width() -> None:
    assert {measure(each.value.in_language(language)) for each in Level for language in LANGUAGES} == {5}
