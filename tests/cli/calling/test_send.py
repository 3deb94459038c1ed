"""`pabal send` sends every kind of message, says what is wrong, and can wait for the result."""

import io
import json
from pathlib import Path

import pytest

from tests.fixtures.calling import SENDER, CallingLine
from tests.fixtures.pictures import JPEG
from tests.fixtures.scripted_service import LOST, ScriptedService, refuse

PHONE = "010-1234-5678"
TEXT = ("--content", "#{name}님, 안녕하세요", "--var", "name=홍길동")


def received(line: CallingLine) -> list[tuple[str, str]]:
    """Return kind and text of what the phone has received, newest first."""
    return [(each.kind, each.content) for each in line.account.list_received(PHONE)]


@pytest.mark.parametrize("kind", ["sms", "lms", "mms"])
def test_text_is_sent_and_its_request_id_printed_alone(line: CallingLine, kind: str) -> None:
    subject = () if kind == "sms" else ("--subject", "제목")

    sent = line("send", kind, "--to", PHONE, "--from", SENDER, *TEXT, *subject)

    assert (sent.status, sent.err) == (0, "")
    (message,) = line.account.wait_until_ended(sent.out.strip())
    assert (message.messageProductType.value, message.receiver) == (kind, PHONE)
    assert received(line) == [(kind, "홍길동님, 안녕하세요")]


def test_numbers_may_be_separated_by_commas(line: CallingLine) -> None:
    sent = line(
        "send", "sms", "--to", f"{PHONE},010-2222-3333", "010-4444-5555,", "--from", SENDER, "--content", "x"
    )

    messages = line.account.wait_until_ended(sent.out.strip())
    assert {each.receiver for each in messages} == {PHONE, "010-2222-3333", "010-4444-5555"}


def test_code_is_sent_as_one(line: CallingLine) -> None:
    text = ("--from", SENDER, "--content", "인증번호 482913", "--purpose", "code")
    sent, refused = line("send", "sms", "--to", PHONE, *text), line("send", "mms", "--to", PHONE, *text)

    (message,) = line.account.wait_until_ended(sent.out.strip())
    assert (message.purpose, message.content) == ("code", "인증번호 ••••••")
    assert received(line) == [("sms", "인증번호 482913")]
    assert "--purpose" in refused.err


def test_picture_goes_with_an_mms(line: CallingLine, tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").write_bytes(JPEG)

    sent = line("send", "mms", "--to", PHONE, "--from", SENDER, *TEXT, "--image", tmp_path / "photo.jpg")

    line.account.wait_until_ended(sent.out.strip())
    assert line.account.list_received(PHONE)[0].image


def test_talk_messages_are_sent_with_buttons_and_attachments(line: CallingLine, tmp_path: Path) -> None:
    key = line.account.register_template("#{name}님, 주문이 접수되었습니다.").senderKey
    buttons, attachment = tmp_path / "buttons.json", tmp_path / "attachment.json"
    buttons.write_text(json.dumps([{"name": "보기", "mobileUrl": "https://shop.example"}]))
    attachment.write_text(
        json.dumps(
            {"coupon": {"title": "1000원 할인 쿠폰", "description": "오늘만", "linkMo": "https://shop.example"}}
        )
    )
    to = ("--to", PHONE, "--sender-key", key, "--var", "name=홍길동")

    alimtalk = line("send", "alimtalk", *to, "--template", "T1")
    friend = line("send", "friendtalk", *to, "--content", "안녕하세요", "--buttons", buttons)
    brand = line("send", "brand", *to, "--content", "행사", "--targeting", "I", "--attachment", attachment)

    assert [each.status for each in (alimtalk, friend, brand)] == [0, 0, 0], (alimtalk, friend, brand)
    for each in (alimtalk, friend, brand):
        line.account.wait_until_ended(each.out.strip())
    assert {kind for kind, _ in received(line)} == {"alimTalk", "friendTalkText", "brandMessage"}


def test_fallback_counts_as_delivered_when_waiting(line: CallingLine) -> None:
    key = line.account.register_template("주문이 접수되었습니다.").senderKey
    words = ("send", "alimtalk", "--sender-key", key, "--template", "T1", "--to", "010-0000-0003", "--wait")

    without, with_fallback = line(*words), line(*words, "--resend-from", SENDER)

    assert without.status == 5
    assert with_fallback.status == 0
    assert len(with_fallback.rows) == 2


def test_waiting_tells_the_result_of_each_message(line: CallingLine) -> None:
    waited = line("send", "sms", "--to", PHONE, "010-0000-0001", "--from", SENDER, "--content", "안녕", "--wait")
    as_json = line("send", "sms", "--to", PHONE, "--from", SENDER, "--content", "안녕", "--wait", "--json")
    too_short = line(
        "send", "sms", "--to", "010-0000-0006", "--from", SENDER, "--content", "안녕", "--wait", "--timeout", "1"
    )

    assert waited.status == 5
    assert {row[2]: row[4].split()[0] for row in waited.rows} == {PHONE: "1000", "010-0000-0001": "3003"}
    assert (as_json.status, json.loads(as_json.out)["sendingStatus"]["value"]) == (0, "completed")
    assert (too_short.status, too_short.err) == (3, "1 messages have not ended yet\n")


def test_dry_run_shows_what_would_be_sent_and_sends_nothing(line: CallingLine) -> None:
    shown = line("send", "sms", "--to", PHONE, "--from", SENDER, *TEXT, "--dry-run")

    assert shown.status == 0
    assert shown.rows[0][:2] == [PHONE, "sms"]
    assert shown.rows[0][-1] == "홍길동님, 안녕하세요"
    assert shown.err == "This was a dry run: nothing was sent.\n"
    assert line("history").out == ""


def test_same_idempotency_key_sends_once(line: CallingLine) -> None:
    words = ("send", "sms", "--to", PHONE, "--from", SENDER, "--content", "안녕", "--idempotency-key", "order-1")

    first, second = line(*words, "--json"), line(*words, "--json")

    assert json.loads(first.out) == json.loads(second.out)


def test_text_can_come_from_standard_input(line: CallingLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("첫째 줄\n둘째 줄\n"))

    sent = line("send", "lms", "--to", PHONE, "--from", SENDER, "--content", "-")

    assert line.list_messages(sent.out.strip())[0].content == "첫째 줄\n둘째 줄"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "say what to send: sms, lms"),
        (["sms"], "--to: required"),
        (["sms", "--to", PHONE], "--content, --from: required for sms"),
        (["sms", "--to", PHONE, "--content", "a", "--from", SENDER, "--subject", "b"], "--subject: is not for sms"),
        (["alimtalk", "--to", PHONE, "--content", "a"], "--content: is not for alimtalk"),
        (["lms", "--to", PHONE, "--var", "name"], "write NAME=VALUE"),
        (["mms", "--to", PHONE, "--content", "a", "--from", SENDER, "--image", "absent.jpg"], "absent.jpg: cannot"),
        (["alimtalk", "--to", PHONE, "--resend-content", "a"], "--resend-content: give --resend-from too"),
        (["sms", "--to", PHONE, "--again"], "only with --csv"),
        (["sms", "--csv", "a.csv", "--to", PHONE], "--csv: without --to"),
        (["fax"], "invalid choice"),
        (["sms", "--timeout", "0"], "must be a number from 1"),
    ],
)
def test_wrong_use_is_told_before_anything_is_sent(line: CallingLine, words: list[str], said: str) -> None:
    refused = line("send", *words)

    assert (refused.status, refused.out) == (2, "")
    assert said in refused.err
    assert line("history").out == ""


def test_refusal_names_every_wrong_receiver(line: CallingLine) -> None:
    refused = line("send", "sms", "--to", "1", PHONE, "02-1", "--from", SENDER, "--content", "안녕")

    assert (refused.status, refused.out) == (1, "")
    first, *others = refused.err.splitlines()
    assert first.startswith("pabal: INVALID_PHONE_NUMBER: ")
    assert [each.split(": ")[0].strip() for each in others] == [
        "receivers[0].phoneNumber",
        "receivers[2].phoneNumber",
    ]


@pytest.mark.parametrize(
    ("words", "named"),
    [(["--at", "tomorrow"], "--at"), (["--from", "1"], "--from"), (["--to", "1"], "receivers[0].phoneNumber")],
)
def test_refusal_names_the_option_that_sets_the_field(line: CallingLine, words: list[str], named: str) -> None:
    receiver = [] if "--to" in words else ["--to", PHONE]

    refused = line("send", "sms", *receiver, "--from", SENDER, "--content", "안녕", *words)

    assert (refused.status, refused.out) == (1, "")
    assert refused.err.endswith(f" ({named})\n")


def test_key_and_address_are_settings(line: CallingLine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    words = ("send", "sms", "--to", PHONE, "--from", SENDER, "--content", "안녕")
    without = line.run(*words)
    monkeypatch.setenv("PABAL_URL", line.account.base_url)
    monkeypatch.setenv("PABAL_API_KEY", line.account.api_key)
    monkeypatch.setenv("PABAL_PORT", "9000")
    in_environment = line.run(*words)
    monkeypatch.delenv("PABAL_API_KEY")
    config = tmp_path / "pabal.toml"
    config.write_text(f'api_key = "{line.account.api_key}"\nport = 9000\n')
    in_file = line.run(*words, "--config", str(config))
    wrong = [line.run(*words, "--url", "shop.example"), line.run(*words, "--key", "키")]

    assert (without.status, in_environment.status, in_file.status) == (2, 0, 0)
    assert "PABAL_API_KEY" in without.err
    assert [each.status for each in wrong] == [2, 2]


def test_service_that_does_not_answer_has_its_own_status(line: CallingLine) -> None:
    words = ("send", "sms", "--to", PHONE, "--from", SENDER, "--content", "안녕", "--key", "pb_1")
    with ScriptedService() as scripted:
        scripted.answers = [LOST]
        lost = line.run(*words, "--url", scripted.base_url)
        keys = {each.headers["idempotency-key"] for each in scripted.seen}
        scripted.answers = [refuse("UNAUTHORIZED", 401)]
        unknown_key = line.run(*words, "--url", scripted.base_url)

    assert (lost.status, unknown_key.status) == (4, 1)
    assert len(keys) == 1
    assert "may have been carried out" in lost.err


def test_messages_are_korean_where_the_locale_is(line: CallingLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "ko_KR.UTF-8")

    refused = line("send", "sms", "--to", "1", "--from", SENDER, "--content", "안녕")
    without_key = line.run("history")

    assert "전화번호가 올바르지 않습니다" in refused.err
    assert "API 키가 없습니다" in without_key.err
