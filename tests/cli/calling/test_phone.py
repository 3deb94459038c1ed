"""`pabal phone` shows what a simulated phone has, and then what arrives."""

import json
import signal

from pabal.cli.calling.history import count_new
from pabal.models.lookup import PhoneAnswer, PhoneItem
from tests.fixtures.calling import SENDER, CallingLine
from tests.fixtures.live import STOP_TIMEOUT_S

PHONE = "010-1234-5678"


def send(line: CallingLine, text: str) -> None:
    sent = line("send", "lms", "--to", PHONE, "--from", SENDER, "--subject", "제목", "--content", text)
    line.account.wait_until_ended(sent.out.strip())


def test_what_a_phone_has_is_shown_oldest_first(line: CallingLine) -> None:
    send(line, "하나")
    send(line, "둘\n셋")

    shown = line("phone", PHONE, "--once")
    as_json = line("phone", PHONE, "--once", "--json")

    assert [each.strip() for each in shown.out.splitlines() if each.startswith("  ")] == [
        "제목", "하나", "제목", "둘", "셋",
    ]  # fmt: skip
    assert [json.loads(each)["content"] for each in as_json.out.splitlines()] == ["하나", "둘\n셋"]
    assert line("phone", "1", "--once").status == 1


def test_what_arrives_is_shown_until_it_is_stopped(line: CallingLine) -> None:
    with line.start("phone", PHONE, "--json") as process:
        assert process.stdout
        assert process.stderr
        assert process.stderr.readline() == f"Watching {PHONE}. Stop with Ctrl-C.\n"
        send(line, "하나")
        first = json.loads(process.stdout.readline())
        send(line, "둘")
        second = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)

        try:
            assert process.wait(STOP_TIMEOUT_S) == 130
        finally:
            process.kill()  # or a failure would wait for it forever
    assert (first["content"], second["content"]) == ("하나", "둘")


def test_new_messages_are_told_from_equal_ones() -> None:
    def page(total: int, *contents: str) -> PhoneAnswer:
        items = [
            PhoneItem(time="2026-11-15 12:00:00", kind="sms", sender=SENDER, content=each, buttons=[], image=False)
            for each in contents
        ]
        return PhoneAnswer(
            time="",
            result="SUCCESS",
            resultMessage="",
            locale="en",
            items=items,
            totalCount=total,
            resultCount=len(items),
            pageCount=1,
            currentPage=1,
            pageSize=100,
        )

    assert count_new(page(0), page(0)) == 0
    assert count_new(page(0), page(2, "b", "a")) == 2
    assert count_new(page(2, "b", "a"), page(2, "b", "a")) == 0
    assert count_new(page(1, "a"), page(3, "a", "a", "a")) == 2
    assert count_new(page(3, "c", "b", "a"), page(3, "d", "c", "b")) == 1
