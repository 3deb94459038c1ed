"""`pabal webhook` and `pabal secrets`: webhooks of accounts, and the key that encrypts their secrets."""

from collections.abc import Iterator

import pytest

from pabal.webhooks.secrets import PLAIN
from tests.fakes.webhooks.receiver import Receiver, running_receiver
from tests.fixtures.certificates import AUTHORITY
from tests.fixtures.cli import CommandLine

URL = "https://shop.example/pabal"


@pytest.fixture
def line(command_line: CommandLine) -> CommandLine:
    command_line("key", "create", "--account", "acme")
    return command_line


def create(line: CommandLine, *words: str) -> tuple[str, str]:
    """Create a webhook; return its id and its secret."""
    made = line("webhook", "create", URL, "--account", "acme", "--event", "message.result", *words)
    assert made.status == 0, made.err
    ((webhook_id, secret),) = made.rows
    return webhook_id, secret


def test_webhook_is_created_listed_and_deleted(line: CommandLine) -> None:
    webhook_id, secret = create(line, "--event", "limit.near", "--product", "sms", "--description", "주문")
    listed = line("webhook", "list")
    of_account = line("webhook", "list", "--account", "acme")
    deleted = line("webhook", "delete", webhook_id, "--account", "acme")

    assert secret.startswith("whsec_")
    row = ["acme", webhook_id, "active", URL, "message.result limit.near", "0", "pabal"]
    assert listed.rows == of_account.rows == [row]
    assert deleted.out == f"webhook {webhook_id} is deleted\n"
    assert line("webhook", "list").rows == []


def test_webhook_is_created_for_programs_of_another_relay(line: CommandLine) -> None:
    create(line, "--format", "nhncloud")
    refused = line(*("webhook", "create", URL, "--account", "acme", "--event", "limit.near", "--format", "solapi"))

    assert [row[-1] for row in line("webhook", "list").rows] == ["nhncloud"]
    assert (refused.status, "message.result" in refused.err) == (1, True)


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("create", "http://shop.example", "--account", "acme", "--event", "message.result"), 1, "https://"),
        (("create", "https://10.0.0.1/", "--account", "acme", "--event", "message.result"), 1, "private"),
        (("create", URL, "--account", "acme", "--event", "nothing"), 2, "invalid choice"),
        (("create", URL, "--account", "acme"), 2, "--event"),
        (("create", URL, "--account", "nobody", "--event", "message.result"), 2, "there is no account 'nobody'"),
        (("delete", "1", "--account", "acme"), 2, "acme has no webhook 1; see `pabal webhook list`"),
        (("delete", "x", "--account", "acme"), 2, "acme has no webhook x"),
        (("test", "1", "--account", "acme"), 2, "acme has no webhook 1"),
    ],
)
def test_wrong_command_is_refused(line: CommandLine, words: tuple[str, ...], status: int, said: str) -> None:
    refused = line("webhook", *words)

    assert (refused.status, said in refused.err) == (status, True), refused.err


def test_test_says_why_there_was_no_answer(line: CommandLine) -> None:
    line("webhook", "create", "https://localhost:1/", "--account", "acme", "--event", "message.result")

    tested = line("webhook", "test", "1", "--account", "acme")

    assert (tested.status, tested.out.split(":")[0]) == (1, "address_not_allowed")


@pytest.fixture(scope="module")
def receiver() -> Iterator[Receiver]:
    with running_receiver() as found:
        yield found


def test_test_reaches_a_real_receiver(
    line: CommandLine, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PABAL_WEBHOOK_ALLOW", f"acme@localhost:{receiver.port}")
    monkeypatch.setenv("PABAL_WEBHOOK_TLS_CA", str(AUTHORITY))
    made = line("webhook", "create", receiver.url, "--account", "acme", "--event", "message.result")
    webhook_id, secret = made.rows[0]
    receiver.change(secret=secret)

    tested = line("webhook", "test", webhook_id, "--account", "acme")

    assert tested.status == 0
    assert tested.out.startswith("HTTP 204 after ")
    assert receiver.wait_for_many("post", 1)[-1]["type"] == "webhook.test"


def stored_secrets(line: CommandLine) -> list[bytes]:
    rows = line.run_in_store(lambda tx: tx.fetch_all("select secret from webhooks order by id"))
    return [bytes(row[0]) for row in rows]


def test_key_is_replaced_without_losing_a_secret(line: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = [line("secrets", "new-key").out.strip() for _ in range(2)]
    create(line)
    plain = stored_secrets(line)

    no_key = line("secrets", "rotate")
    monkeypatch.setenv("PABAL_SECRET_KEY", keys[0])
    create(line)
    encrypted = line("secrets", "rotate")
    first = stored_secrets(line)
    monkeypatch.setenv("PABAL_SECRET_KEY", f"{keys[1]} {keys[0]}")
    rotated = line("secrets", "rotate")
    monkeypatch.setenv("PABAL_SECRET_KEY", keys[1])
    again = line("secrets", "rotate")
    monkeypatch.setenv("PABAL_SECRET_KEY", keys[0])
    lost = line("secrets", "rotate")

    assert (no_key.status, "there is no key" in no_key.err) == (2, True)
    assert plain[0].startswith(PLAIN)
    assert encrypted.out == "1 webhooks encrypted with the current key; 1 were already\n"
    assert plain[0][1:] not in first[0]
    assert rotated.out == "2 webhooks encrypted with the current key; 0 were already\n"
    assert again.out == "0 webhooks encrypted with the current key; 2 were already\n"
    assert (lost.status, "2 cannot be decrypted" in lost.out) == (1, True)


def test_doctor_says_how_secrets_are_stored(line: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    key = line("secrets", "new-key").out.strip()
    without = line("doctor")
    create(line)
    plain = line("doctor")
    monkeypatch.setenv("PABAL_SECRET_KEY", key)
    old = line("doctor")
    line("secrets", "rotate")
    good = line("doctor")
    monkeypatch.setenv("PABAL_SECRET_KEY", line("secrets", "new-key").out.strip())
    lost = line("doctor")

    assert "secrets of" not in without.out + good.out
    assert "note  the secrets of 1 webhooks are stored without encryption" in plain.out
    assert "Run `pabal secrets rotate`." in old.out
    assert (plain.status, old.status, good.status, lost.status) == (0, 0, 0, 1)
    assert "WRONG the secrets of 1 webhooks cannot be decrypted" in lost.out
