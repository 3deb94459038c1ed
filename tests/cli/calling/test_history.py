"""`pabal history` finds messages, and tells what happened to one."""

import json

from tests.fixtures.calling import SENDER, CallingLine

PHONE, OTHER = "010-1234-5678", "010-0000-0001"


def send(line: CallingLine, *numbers: str) -> str:
    """Send to numbers, wait until all has ended, and return the request id."""
    request_id = line("send", "sms", "--to", *numbers, "--from", SENDER, "--content", "안녕하세요").out.strip()
    line.account.wait_until_ended(request_id)
    return request_id


def test_messages_are_listed_newest_first(line: CallingLine) -> None:
    first, second = send(line, PHONE), send(line, OTHER)

    listed = line("history")
    limited = line("history", "--limit", "1")

    assert [row[1:4] for row in listed.rows] == [["SMS", OTHER, "Failed"], ["SMS", PHONE, "Completed"]]
    assert [row[4].split()[0] for row in listed.rows] == ["3003", "1000"]
    assert [row[2] for row in limited.rows] == [OTHER]
    assert "--limit" in limited.err
    assert [row[2] for row in line("history", "--request", first).rows] == [PHONE]
    assert [row[2] for row in line("history", "--to", OTHER).rows] == [OTHER]
    assert [row[2] for row in line("history", "--status", "completed").rows] == [PHONE]
    assert line("history", "--kind", "lms").rows == []
    assert line("history", "--request", second, "--json").out.count("\n") == 1


def test_message_is_shown_with_what_happened_to_it(line: CallingLine) -> None:
    request_id = send(line, PHONE)
    (message,) = line.list_messages(request_id)

    shown = line("history", "--message", message.messageId)
    as_json = line("history", "--message", message.messageId, "--json")

    assert [row[1] for row in shown.rows[1:]][:2] == ["accepted", "submitted"]
    assert json.loads(as_json.out)["events"][0]["event"] == "accepted"


def test_wrong_search_is_refused(line: CallingLine) -> None:
    assert line("history", "--date", "tomorrow").err == (
        "pabal: INVALID_DATE: A date has the wrong format or is not allowed."
        " Write it as yyyy-MM-dd or yyyy-MM-dd HH:mm. (--date)\n"
    )
    assert line("history", "--date", "tomorrow").status == 1
    assert line("history", "--message", "nothing").status == 1
    assert line("history", "--limit", "none").status == 2
