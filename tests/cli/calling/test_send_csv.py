"""`pabal send --csv` sends each row once, however often it is stopped, and reports rows that are wrong."""

import fcntl
import functools
import json
import operator
import os
import signal
from collections import Counter
from pathlib import Path

import pytest

from pabal.cli.calling.history import since_yesterday
from pabal.client import ListMessages
from pabal.domain.base.dates import HOUR
from pabal.world import RealWorld
from tests.fixtures.calling import SENDER, CallingLine
from tests.fixtures.live import STOP_TIMEOUT_S, wait_until

TEXT = ("--from", SENDER, "--content", "#{이름}님, 안녕하세요")
ROWS = 12


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of receivers."""
    return write_file(tmp_path / "customers.csv", [number_of(each) for each in range(ROWS)])


def number_of(index: int) -> str:
    return f"010-2000-{index:04}"


def write_file(path: Path, numbers: list[str]) -> Path:
    lines = ["휴대폰번호,이름,참조ID", *(f"{number},고객{index},c-{index}" for index, number in enumerate(numbers))]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def messages_by_receiver(line: CallingLine) -> Counter[str]:
    """Return how many messages each receiver has got."""
    today = ListMessages(requestDate=since_yesterday())
    return Counter(each.receiver for each in line.client.iterate(line.client.list_messages, today))


def journal_of(file: Path) -> Path:
    return file.with_name(f"{file.name}.journal")


def report_of(file: Path) -> list[str]:
    return file.with_name(f"{file.name}.bad.csv").read_text(encoding="utf-8-sig").splitlines()


def test_rows_are_sent_in_requests_with_their_values(line: CallingLine, file: Path) -> None:
    sent = line("send", "sms", "--csv", file, *TEXT, "--chunk", "5", "--json")

    assert sent.status == 0, sent.err
    said = json.loads(sent.out)
    assert (said["rows"], said["sent"], said["wrong"], len(said["requestIds"])) == (ROWS, ROWS, 0, 3)
    messages = [each for request_id in said["requestIds"] for each in line.list_messages(request_id)]
    assert {(each.receiver, each.content, each.reference) for each in messages} == {
        (number_of(each), f"고객{each}님, 안녕하세요", f"c-{each}") for each in range(ROWS)
    }


def test_kind_is_sms_unless_said(line: CallingLine, file: Path) -> None:
    sent = line("send", "--csv", file, *TEXT)

    assert (sent.status, sent.err) == (0, "12 of 12 rows were sent in 1 requests.\n")


def test_columns_have_the_variables_of_a_template(line: CallingLine, file: Path) -> None:
    key = line.account.register_template("#{이름}님, 주문이 접수되었습니다.").senderKey

    sent = line("send", "alimtalk", "--csv", file, "--sender-key", key, "--template", "T1", "--json")

    contents = {each.content for each in line.list_messages(json.loads(sent.out)["requestIds"][0])}
    assert "고객0님, 주문이 접수되었습니다." in contents


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp949"])
def test_file_of_a_korean_spreadsheet_is_read(line: CallingLine, file: Path, encoding: str) -> None:
    file.write_bytes(file.read_text(encoding="utf-8").encode(encoding))

    assert line("send", "--csv", file, *TEXT, "--dry-run").err == "12 of 12 rows can be sent.\n"
    assert not journal_of(file).exists()


def test_wrong_rows_are_reported_and_others_sent(line: CallingLine, tmp_path: Path) -> None:
    file = write_file(tmp_path / "customers.csv", [number_of(0), "02-1234-5678", number_of(2), "", number_of(4)])
    content = file.read_text(encoding="utf-8").replace("고객4", "가" * 50)
    file.write_text(content, encoding="utf-8")

    sent = line("send", "--csv", file, *TEXT)

    assert sent.status == 3
    assert sent.err.splitlines()[0] == "2 of 5 rows were sent in 1 requests."
    assert set(messages_by_receiver(line)) == {number_of(0), number_of(2)}
    head, *rows = report_of(file)
    assert head == "row,reason,휴대폰번호,이름,참조ID"
    assert [row.split(",")[0] for row in rows] == ["3", "5", "6"]
    assert "CONTENT_TOO_LONG" in rows[2]


def test_strict_sends_nothing_if_a_row_is_wrong(line: CallingLine, file: Path) -> None:
    file.write_text(file.read_text(encoding="utf-8").replace("고객7", "가" * 50), encoding="utf-8")

    refused = line("send", "--csv", file, *TEXT, "--strict")

    assert refused.status == 3
    assert refused.err.splitlines()[0] == "Nothing was sent."
    assert len(report_of(file)) == 2
    assert not messages_by_receiver(line)


def test_file_is_not_sent_a_second_time_unless_said(line: CallingLine, file: Path) -> None:
    words = ("send", "--csv", file, *TEXT)
    line(*words)

    second = line(*words)
    write_file(file, [number_of(each) for each in range(ROWS + 1)])
    changed = line(*words)
    assert (second.status, changed.status) == (2, 2)
    assert "was sent already" in second.err
    assert "--again" in changed.err
    assert set(messages_by_receiver(line).values()) == {1}

    again = line(*words, "--again")

    assert again.status == 0
    assert messages_by_receiver(line)[number_of(0)] == 2


def test_lost_end_of_the_journal_sends_nothing_twice(line: CallingLine, file: Path) -> None:
    words = ("send", "--csv", file, *TEXT, "--chunk", "4")
    line(*words)
    content = journal_of(file).read_bytes()
    places = [index for index, byte in enumerate(content) if byte == ord("\n")]

    for end in (places[2] + 1, places[3] + 7, places[4] + 1):  # also within a line, as a killed process leaves it
        journal_of(file).write_bytes(content[:end])
        assert line(*words).status == 0

    assert messages_by_receiver(line) == {number_of(each): 1 for each in range(ROWS)}


def test_lost_journal_sends_nothing_twice(line: CallingLine, file: Path) -> None:
    first = line("send", "--csv", file, *TEXT, "--json")
    journal_of(file).unlink()

    second = line("send", "--csv", file, *TEXT, "--json")

    assert json.loads(first.out) == json.loads(second.out)
    assert set(messages_by_receiver(line).values()) == {1}


def test_old_request_without_an_answer_is_left_to_the_user(line: CallingLine, file: Path) -> None:
    words = ("send", "--csv", file, *TEXT, "--chunk", "6")
    line(*words)
    header, begin, *_ = journal_of(file).read_text().splitlines()
    old = json.loads(begin) | {"at": RealWorld().now() - 21 * HOUR}
    journal_of(file).write_text(f"{header}\n{json.dumps(old)}\n")

    asked = line(*words)
    skipped = line(*words, "--in-doubt", "skip")

    assert asked.status == 2
    assert "6 rows were requested long ago" in asked.err
    assert skipped.status == 3
    assert len(report_of(file)) == 7
    assert set(messages_by_receiver(line).values()) == {1}


def test_killed_command_goes_on_and_every_row_gets_one_message(line: CallingLine, tmp_path: Path) -> None:
    file = write_file(tmp_path / "customers.csv", [number_of(each) for each in range(400)])
    words = ("send", "--csv", file, *TEXT, "--chunk", "10")

    def count_accepted() -> int:
        return journal_of(file).read_text().count('"accepted"') if journal_of(file).exists() else 0

    for least in (5, 20):
        with line.start(*words) as process:
            wait_until(count_accepted, functools.partial(operator.le, least))
            process.send_signal(signal.SIGKILL)
    finished = line(*words)

    assert finished.status == 0, finished.err
    assert messages_by_receiver(line) == {number_of(each): 1 for each in range(400)}


def test_terminal_shows_a_progress_bar(line: CallingLine, file: Path) -> None:
    terminal, other_end = os.openpty()
    with line.start("send", "--csv", file, *TEXT, "--chunk", "4", stderr=other_end) as process:
        assert process.wait(STOP_TIMEOUT_S) == 0
    os.close(other_end)
    shown = os.read(terminal, 65536).decode()
    os.close(terminal)

    assert f"[{'#' * 30}] 100%  12/12" in shown
    assert "12 of 12 rows were sent in 3 requests." in shown


def test_refused_request_stops_and_goes_on_when_it_is_corrected(line: CallingLine, file: Path) -> None:
    with_wrong_key = line.run(
        *("send", "--csv", str(file), *TEXT), "--url", line.account.base_url, "--key", "pb_wrong"
    )

    assert with_wrong_key.status == 1
    assert "Run the same command again" in with_wrong_key.err
    assert line("send", "--csv", file, *TEXT).status == 0
    assert set(messages_by_receiver(line).values()) == {1}


def test_two_processes_do_not_send_one_file(line: CallingLine, file: Path) -> None:
    with journal_of(file).open("wb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        refused = line("send", "--csv", file, *TEXT)

    assert refused.status == 2
    assert "another pabal is sending this file" in refused.err


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "is empty"),
        ("이름\n고객", "휴대폰번호"),
        ("phone\n010-1234-5678", "There is no column for: 이름"),
        ("010-1234-5678,고객\n", "The first row must name the columns"),
    ],
)
def test_file_that_cannot_be_used_is_refused(line: CallingLine, tmp_path: Path, content: str, said: str) -> None:
    file = tmp_path / "customers.csv"
    file.write_text(content, encoding="utf-8")

    refused = line("send", "--csv", file, *TEXT)

    assert refused.status == 2
    assert said in refused.err
    assert line("send", "--csv", tmp_path / "absent.csv", *TEXT).status == 2
