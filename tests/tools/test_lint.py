"""`make lint` finds planted violations of the rules on style and documents."""

from pathlib import Path

import pytest

from tools.lint.documents import find_wrong_names
from tools.lint.korean import find_differences
from tools.lint.style import MAX_FILE_LINES, MAX_FUNCTION_LINES, MAX_TEST_NAME, find_style_problems

SENTENCE = '"""Does something."""\n'
STYLE = [
    ("tests/a.py", SENTENCE + "\n" * MAX_FILE_LINES, "401 lines"),
    ("bench/a.py", "class A:\n    def run(self):\n" + "        print()\n" * MAX_FUNCTION_LINES, "61 lines"),
    ("tests/a.py", f"def test_{'a' * (MAX_TEST_NAME - 4)}():\n    pass\n", "81 characters"),
    ("src/pabal/a.py", "", "docstring"),
    ("src/pabal/a.py", '"""Does one thing. And another."""\n', "docstring"),
    ("src/pabal/web/a.py", SENTENCE + 'READ = "select id from messages"\n', "SQL outside the store"),
    ("src/pabal/store/a.py", SENTENCE + 'READ = "insert {or_fail} into jobs values (?, ?)"\n', "names of columns"),
    ("src/pabal/web/a.py", SENTENCE + "now = loop.time()\n", "clock"),
]
PAGE = "# Title\n\nSee `key`: 1,000.\n\n- one\n\n```\ncode  # a comment\n```\n"
KOREAN_PAGE = "# 제목\n\n`key`를 보세요: 1000.\n\n- 하나\n\n```\ncode  # 설명\n```\n"


def write(root: Path, name: str, text: str) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_text(text, encoding="utf-8")


@pytest.mark.parametrize(("name", "text", "problem"), STYLE, ids=[problem for _, _, problem in STYLE])
def test_bad_style_is_found(tmp_path: Path, name: str, text: str, problem: str) -> None:
    write(tmp_path, name, text)

    [line] = find_style_problems(tmp_path)

    assert line.startswith(name)
    assert problem in line


def test_second_class_of_a_name_is_found(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(tmp_path, f"src/pabal/{name}.py", SENTENCE + "class Message:\n    pass\n\nclass _Own:\n    pass\n")

    assert list(find_style_problems(tmp_path)) == ["src/pabal/b.py: a class Message is in src/pabal/a.py too"]


def test_good_style_is_not_reported(tmp_path: Path) -> None:
    write(tmp_path, "src/pabal/store/a.py", SENTENCE + 'SQL = "insert into jobs (id) values (?)"\n')
    write(tmp_path, "src/pabal/a.py", f'{SENTENCE}def run():\n    """Select words from jobs."""\n')

    assert list(find_style_problems(tmp_path)) == []


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("POST /api/message/sendNothing.v1.0", "no such endpoint: /api/message/sendNothing.v1.0"),
        ("Set PABAL_NOTHING to 1.", "no such variable: PABAL_NOTHING"),
        ("The setting `nothing_s` is 1.", "no such setting: nothing_s"),
        ("Refused with `NOTHING_LIKE_IT`.", "no such result code: NOTHING_LIKE_IT"),
        ("Watch pabal_nothing_seconds_bucket.", "no such metric: pabal_nothing_seconds"),
        ("See [nothing](nothing.md).", "a link leads nowhere: nothing.md"),
        ("See [nothing](#nothing).", "a link leads nowhere: #nothing"),
        ("```sh\n.venv/bin/pabal nothing\n```\n", "not a command: .venv/bin/pabal nothing"),
        ("```sh\nkubectl exec x -- pabal nothing\n```\n", "not a command: kubectl exec x -- pabal nothing"),
        (
            "```sh\ndocker compose run --rm pabal nothing\n```\n",
            "not a command: docker compose run --rm pabal nothing",
        ),
        ("Copy deploy/nothing.yaml.", "no such file: deploy/nothing.yaml"),
    ],
)
def test_name_of_nothing_is_found(tmp_path: Path, text: str, problem: str) -> None:
    write(tmp_path, "docs/how-to/a.md", text)

    assert f"docs/how-to/a.md: {problem}" in list(find_wrong_names(tmp_path))


def test_document_that_leaves_something_out_is_found(tmp_path: Path) -> None:
    write(tmp_path, "docs/promises.md", "## Kept\nNo test.\n\n## Broken\nTested by: `tests/test_nothing.py`\n")
    write(tmp_path, "ARCHITECTURE.md", "```\nsrc/pabal/\n  old/\n\ndocs/\n")
    write(tmp_path, "src/pabal/new/__init__.py", "")

    assert {
        "docs/how-to: no guide has /api/message/sendSMS.v1.0",
        "docs/promises.md: no test holds: Kept",
        "docs/promises.md: no such test: tests/test_nothing.py",
        "ARCHITECTURE.md: no such package: old/",
        "ARCHITECTURE.md: a package is missing: new/",
        "docs/reference/errors.md: out of date; run `make docs`",
    } <= {*find_wrong_names(tmp_path)}


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("# 제목", "## 제목", "headings of other levels"),
        ("# 제목", "# Title", "a heading in English: Title"),
        ("code", "other", "other code"),
        ("`key`", "`other`", "other names"),
        ("- 하나", "하나", "other tables or lists"),
        ("1000", "2000", "other numbers"),
        ("하나", "[하나](b.md)", "other links"),
        ("하나", "one two three four, five six seven eight", "not Korean"),
    ],
)
def test_difference_between_twins_is_found(tmp_path: Path, old: str, new: str, problem: str) -> None:
    for name in ("README.md", "SECURITY.md", "docs/a.md"):
        write(tmp_path, name, PAGE)
    for name in ("README.ko.md", "docs/ko/security.md", "docs/ko/a.md"):
        write(tmp_path, name, KOREAN_PAGE)
    assert list(find_differences(tmp_path)) == []

    write(tmp_path, "docs/ko/a.md", KOREAN_PAGE.replace(old, new))

    [line] = find_differences(tmp_path)
    assert line.startswith(f"docs/ko/a.md: {problem}")


def test_page_without_a_twin_is_found(tmp_path: Path) -> None:
    write(tmp_path, "docs/a.md", PAGE)
    write(tmp_path, "docs/ko/b.md", KOREAN_PAGE)

    assert {"docs/a.md: no page in Korean", "docs/ko/b.md: no page in English"} <= {*find_differences(tmp_path)}


def test_twins_of_the_glossary_have_the_same_terms(tmp_path: Path) -> None:
    write(tmp_path, "docs/glossary.md", "# Glossary\n\n| Term | Korean |\n| Lease | 임대 |\n")
    write(tmp_path, "docs/ko/glossary.md", "# 용어집\n\n| 용어 | Term |\n| 임차 | Lease |\n")

    assert "docs/ko/glossary.md: other terms" in list(find_differences(tmp_path))
