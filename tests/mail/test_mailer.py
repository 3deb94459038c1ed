"""Mails as bytes: what people have named never becomes a header, a line or a link."""

import email
import email.policy

import pytest

from pabal.mail.mailer import MAX_SUBJECT_CHARACTERS, MAX_TEXT_CHARACTERS, Mail, spell_mail, to_one_line

NOW = 1_794_711_603_000


def spell(subject: str = "안내", text: str = "내용\n") -> bytes:
    return spell_mail(Mail("ab12", "kim@example.com", subject, text), "pabal@example.com", NOW)


@pytest.mark.parametrize("line_end", ["\r\n", "\n", "\r", "\x85", "\u2028", "\v", "\0"])
def test_line_ends_in_names_begin_no_header(line_end: str) -> None:
    parsed = email.message_from_bytes(spell(f"a{line_end}Bcc: evil@example.com"), policy=email.policy.default)

    assert set(parsed.keys()) == {
        "From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted", "X-Auto-Response-Suppress",
        "Content-Type", "Content-Transfer-Encoding", "MIME-Version",
    }  # fmt: skip
    assert parsed["To"] == "kim@example.com"
    assert parsed["Subject"] == "a Bcc: evil@example.com"


def test_marks_of_direction_and_links_are_taken_out_of_names() -> None:
    assert to_one_line("주문\u202egnp.exe\u200b", 60) == "주문 gnp.exe"
    assert to_one_line("https://evil.example/a", 60) == "https[:]//evil.example/a"
    assert to_one_line(" 여러   칸 \t ", 60) == "여러 칸"


def test_huge_texts_are_cut() -> None:
    whole = spell("가" * 100_000, "나" * 1_000_000)

    parsed = email.message_from_bytes(whole, policy=email.policy.default)
    assert len(parsed["Subject"]) == MAX_SUBJECT_CHARACTERS
    assert len(parsed.get_content().strip()) == MAX_TEXT_CHARACTERS
    assert max(len(line) for line in whole.split(b"\r\n")) <= 998
    assert whole.replace(b"\r\n", b"").count(b"\n") == 0


def test_mail_is_in_ascii_and_says_that_no_person_wrote_it() -> None:
    whole = spell("[파발] 안내")

    assert whole.isascii()
    assert b"Auto-Submitted: auto-generated" in whole
    assert b"Message-ID: <ab12@example.com>" in whole
    assert whole.endswith(b"\r\n")
