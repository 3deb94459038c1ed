"""Results and errors of commands, and what doctor finds, are Korean where the locale is."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import pabal.cli
from pabal.cli.doctor import doctor, machine
from pabal.cli.manage.privacy import NOT_COVERED
from pabal.cli.shared.translate import KOREAN, t
from pabal.domain.base.codes import Text
from pabal.store.engine.base import NodeUnavailable
from pabal.store.engine.citus import citus_nodes
from tests.fixtures.cli import CommandLine

SRC = Path(pabal.cli.__file__).parents[1]
FILES = [*SRC.glob("cli/**/*.py"), *SRC.glob("settings/*.py"), SRC / "app.py"]
CALLS = ("print_message", "CommandError", "CannotServe", "BadSetting", "AlreadyRunning", "NotMigrated", "Finding")
NOT_TRANSLATED = {
    "{}: {}",  # a file, and a message in the user's language
    "--{}: {}",  # an option, and such a message
    "--allow {}: {}",  # what Python says of a network
    "`chmod u+rw {}`",
    # These have several translations, by what is filled in:
    "user {} {}",
    "{} {} registered for {}",
    "{} is not {} for {}; see `pabal number list`",
    "{}: {} of {} rows",
    "there is no account {}{} --new-account creates it",
    "Pabal answers at {}",
    "nothing answers at {}, though a service is running",
    "a Pabal with other data answers at {}",
    "another program, not Pabal, answers at {}",
    "the clock of the worker {} is about {} s {} the database's",
    "the clock of this machine is {} s {} that of the database",
}
PLACEHOLDER = re.compile(r"\{\w*\}")
HANGUL = re.compile("[가-힣]")


@pytest.fixture
def korean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "ko_KR.UTF-8")


def skeletons(tree: ast.AST) -> Iterator[str]:
    """Yield the texts of calls that print or raise, each value in them as {}."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
            name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            if name in CALLS:
                yield from filter(None, (skeleton(each) for each in node.args if not isinstance(each, ast.Starred)))
        if isinstance(node, ast.Assign) and isinstance(target := node.targets[0], ast.Name):
            text = skeleton(node.value) if target.id in ("message", "remedy") else None
            yield from [text] if text else []


def skeleton(node: ast.expr) -> str | None:
    if isinstance(node, ast.JoinedStr):
        return "".join(each.value if isinstance(each, ast.Constant) else "{}" for each in node.values)  # type: ignore[misc]
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def test_every_message_has_a_translation() -> None:
    known = {PLACEHOLDER.sub("{}", each) for each in KOREAN}
    used = {text for path in FILES for text in skeletons(ast.parse(path.read_text(encoding="utf-8")))}

    assert len(used) > 100
    missing = {
        text
        for text in used - known - NOT_TRANSLATED
        if not any(
            re.fullmatch(re.escape(each).replace(r"\{\}", ".*"), text, re.DOTALL) for each in known if each != "{}"
        )
    }
    assert missing == set()


@pytest.mark.parametrize(
    "text",
    [
        *doctor.CARRIER_REMEDIES.values(),
        *doctor.CARRIER_WORDS.values(),
        *machine.STORE_REMEDIES.values(),
        machine.UNKNOWN_STORE_REMEDY,
        doctor.UNCONFIGURED_REMEDY,
        doctor.PAUSED_REMEDY,
        citus_nodes.UNREACHABLE_REMEDY,
        str(NodeUnavailable("worker1:5432", "connection refused")),
        "the node worker1:5432 cannot be reached (connection refused)",
        "the node worker1:5432 has other settings than it should: on 0",
        NOT_COVERED,
        "user kim is unlocked",
        "user kim had no failed sign-ins",
        "user kim signs in with the password alone",
        "user kim had no two-factor sign-in",
        "02-1234-5678 is registered for acme",
        "02-1234-5678 was already registered for acme",
        "02-1234-5678 is not registered for acme; see `pabal number list`",
        "02-1234-5678 is not pending for acme; see `pabal number list`",
        "Pabal answers at port 8080 of 127.0.0.1",
        "nothing answers at port 8080 of 127.0.0.1, though a service is running",
        machine._OTHER_SETTINGS,
        "a Pabal with other data answers at port 8080 of 127.0.0.1",
        "another program, not Pabal, answers at port 8080 of 127.0.0.1",
        "the clock of the worker a:1 is about 5 s ahead of the database's",
        "the clock of the worker a:1 is about 5 s behind the database's",
        "the clock of this machine is 2.5 s ahead of that of the database",
        "the clock of this machine is 2.5 s behind that of the database",
        "copying messages: 5 of 10 rows",
        "comparing messages: 5 of 10 rows",
        "1 messages wait for the carrier gone, which is not configured, and 2 for receipts from it",
    ],
)
def test_constant_texts_have_a_translation(korean: None, text: str) -> None:
    assert HANGUL.search(t(text)), text


def test_both_languages_have_the_same_placeholders() -> None:
    for english, korean in KOREAN.items():
        places = [set(re.findall(r"\{(\w+)\}", each)) for each in (english, korean)]
        assert places[1] <= places[0], english
        assert places[0] - places[1] <= {"s"}, english


def test_values_and_messages_within_messages_are_translated(korean: None) -> None:
    inner = "another pabal is running on /data; stop it, or choose another directory with --data"

    assert t(f"stop the service first: {inner}") == (
        "먼저 서비스를 멈추세요: /data에서 다른 파발이 실행 중입니다. 그것을 멈추거나 --data로 다른 디렉터리를"
        " 고르세요"
    )
    assert t("port: at most 65535") == "port: 65535 이하여야 합니다"
    assert t("something else") == "something else"


def test_english_stays_english() -> None:
    assert t("port: at most 65535", "en") == "port: at most 65535"


def test_commands_speak_korean(new_command_line: CommandLine, korean: None) -> None:
    new_command_line("key", "create", "--account", "acme")
    refused = new_command_line("key", "create", "--account", "acne")
    unknown = new_command_line("number", "add", "112", "--account", "acme")
    revoked = new_command_line("key", "revoke", "1")
    found = new_command_line("doctor")

    assert refused.err == "pabal: 'acne' 계정이 없습니다. 혹시 acme입니까? 새로 만들려면 --new-account를 주세요\n"
    assert HANGUL.search(unknown.err)
    assert revoked.out == "키 1을(를) 폐기했습니다\n"
    assert "이상  쓸 수 있는 키가 없습니다\n      만드세요: pabal key create --account NAME\n" in found.out
    assert all(HANGUL.search(line) for line in found.out.splitlines()), found.out
    assert found.status == 1


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
    from pabal.cli.main import OK, WRONG
    from pabal.cli.shared.table import measure

    texts: list[Text] = [OK, WRONG]
    assert {measure(each.in_language(language)) for each in texts for language in ("ko", "en")} == {5}
