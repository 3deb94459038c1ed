"""`pabal mcp` over real pipes, used by the client of the Model Context Protocol's own SDK."""

import contextlib
import json
import re
import sys
from collections.abc import AsyncIterator, Iterator
from typing import Any

import msgspec
import pytest
from mcp import Client, MCPError, StdioServerParameters

from pabal.cli.calling.mcp_tools import ADVICE
from pabal.client import SendSms
from pabal.domain.sends.message import Outcome
from pabal.models.answers import MessageItem
from pabal.testing.account import TemporaryAccount
from pabal.testing.plugin import pabal, pabal_service
from pabal.testing.service import LocalService
from tests.fixtures.cli import run_command
from tests.fixtures.scripted_service import LOST, ScriptedService, refuse, succeed

__all__ = ["pabal", "pabal_service"]

LOOK_UPS = {
    "list_messages",
    "look_up_request",
    "explain_message",
    "list_statistics",
    "list_templates",
    "list_senders",
}
pytestmark = pytest.mark.slow
SENDER = "02-1234-5678"
PHONE = "010-1234-5678"


def sms(*phones: str, **changes: Any) -> dict[str, Any]:
    receivers = [{"phoneNumber": each} for each in phones or (PHONE,)]
    return {"kind": "sms", "message": {"content": "안녕하세요", "sender": SENDER, "receivers": receivers} | changes}


@contextlib.asynccontextmanager
async def assistant(
    url: str, key: str, *options: str, language: str = "C.UTF-8", mode: str = "auto"
) -> AsyncIterator[Client]:
    """Run the command as an assistant does, until the end of the block."""
    environment = {"PABAL_URL": url, "PABAL_API_KEY": key, "LC_ALL": language}
    words = ["-m", "pabal.cli", "mcp", *options]
    async with Client(
        StdioServerParameters(command=sys.executable, args=words, env=environment), mode=mode
    ) as client:
        yield client


async def use(client: Client, tool: str, arguments: dict[str, Any]) -> Any:
    result = await client.call_tool(tool, arguments)
    (content,) = result.content
    assert content.type == "text"
    assert not result.is_error, content.text
    assert json.loads(content.text) == result.structured_content
    return result.structured_content


async def refused(client: Client, tool: str, arguments: dict[str, Any]) -> str:
    result = await client.call_tool(tool, arguments)
    (content,) = result.content
    assert content.type == "text"
    assert result.is_error, content.text
    return content.text


def received(account: TemporaryAccount) -> list[str]:
    return [each.content for each in account.list_received(PHONE)]


@pytest.mark.real_time
async def test_assistant_looks_up_messages_statistics_and_templates(pabal: TemporaryAccount) -> None:
    template = pabal.register_template("#{name}님, 주문이 접수되었습니다.")
    failed = send(pabal, "010-0000-0001")
    delivered = send(pabal, PHONE)
    async with assistant(pabal.base_url, pabal.api_key) as client:
        listed = await use(client, "list_messages", {"receivers": "010-0000-0001"})
        explained = await use(client, "explain_message", {"messageId": failed.messageId})
        fine = await use(client, "explain_message", {"messageId": delivered.messageId})
        request = await use(client, "look_up_request", {"requestId": failed.requestId})
        statistics = await use(client, "list_statistics", {"from": failed.requestDate[:10]})
        templates = await use(client, "list_templates", {"status": "approved"})
        senders = await use(client, "list_senders", {})

    assert [each["messageId"] for each in listed["items"]] == [failed.messageId]
    assert explained["message"]["resultCode"]["value"] == "3003"
    assert explained["why"] == Outcome.NUMBER_NOT_ASSIGNED.label.en
    assert explained["whatToDo"] == ADVICE[Outcome.NUMBER_NOT_ASSIGNED].en
    assert [each["event"] for each in explained["message"]["events"]][-1] == "ended"
    assert "why" not in fine
    assert request["item"]["counts"]["fail"] == 1
    assert sum(each["count"] for each in statistics["items"]) == 2
    assert [each["templateCode"] for each in templates["items"]] == [template.templateCode]
    assert [each["senderKey"] for each in senders["items"]] == [template.senderKey]


def send(account: TemporaryAccount, phone: str) -> MessageItem:
    given = sms(phone)["message"]
    answer = account.client.send_sms(msgspec.convert(given, SendSms))
    (message,) = account.wait_until_ended(answer.request_id)
    return message


@pytest.mark.real_time
async def test_only_what_was_confirmed_is_sent_and_once(pabal: TemporaryAccount) -> None:
    async with assistant(pabal.base_url, pabal.api_key, "--allow-send") as client:
        tried = await use(client, "dry_run", sms())
        assert received(pabal) == []
        confirmed = {"confirmation": tried["confirmation"]}

        assert "confirmation" in await refused(client, "send_message", sms())
        assert "of another send" in await refused(client, "send_message", sms(content="다른 글") | confirmed)
        sent = await use(client, "send_message", sms() | confirmed)
        again = await refused(client, "send_message", sms() | confirmed)

    assert tried["item"]["receivers"][0]["content"] == "안녕하세요"
    assert tried["expiresInSeconds"] == 300
    pabal.wait_until_ended(sent["item"]["requestId"])
    assert received(pabal) == ["안녕하세요"]
    assert "Run dry_run again" in again


@pytest.mark.real_time
async def test_wrong_arguments_say_what_is_wrong_and_send_nothing(pabal: TemporaryAccount) -> None:
    eleven = [f"010-1234-56{each:02}" for each in range(11)]
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("dry_run", sms(*eleven), "At most 10 recipients"),
        ("send_message", sms(*eleven) | {"confirmation": "x"}, "At most 10 recipients"),
        ("dry_run", sms(scheduledDate="2030-12-24 18:00"), "unknown field `scheduledDate`"),
        ("dry_run", sms() | {"kind": "mms"}, "kind: sms, lms, alimtalk, friendtalk"),
        ("dry_run", sms() | {"dryRun": True}, "unknown field `dryRun`"),
        ("dry_run", sms("1"), "receivers[0].phoneNumber"),
        ("dry_run", sms(content=""), "MISSING_PARAMETER"),
        ("list_messages", {"phone": PHONE}, "unknown field `phone`"),
        ("explain_message", {"messageId": "0" * 32}, "NOT_FOUND"),
        ("list_statistics", {}, "missing required field `from`"),
    ]
    async with assistant(pabal.base_url, pabal.api_key, "--allow-send") as client:
        for tool, arguments, expected in cases:
            assert expected in await refused(client, tool, arguments), (tool, arguments)
        with pytest.raises(MCPError, match="there is no tool 'erase'"):
            await client.call_tool("erase", {})
    assert received(pabal) == []


@pytest.mark.real_time
@pytest.mark.parametrize(
    ("scopes", "options", "more", "mode"),
    [
        (("read",), ("--allow-send",), set(), "auto"),
        (("send", "read"), (), {"dry_run"}, "legacy"),  # as programs of before 2026 connect
        (("send", "read"), ("--allow-send", "--max-receivers", "2"), {"dry_run", "send_message"}, "auto"),
    ],
    ids=["read-only", "not-allowed", "allowed"],
)
async def test_tools_that_send_are_offered_only_if_key_and_option_allow_it(
    pabal_service: LocalService, scopes: tuple[str, ...], options: tuple[str, ...], more: set[str], mode: str
) -> None:
    key = pabal_service.create_account(scopes=scopes)
    async with assistant(pabal_service.base_url, key, *options, language="ko_KR.UTF-8", mode=mode) as client:
        tools = {each.name: each for each in (await client.list_tools()).tools}
        tried = await use(client, "dry_run", sms()) if "dry_run" in more else {}

    assert set(tools) == LOOK_UPS | more
    assert ("confirmation" in tried) == ("send_message" in more)
    for tool in tools.values():
        assert tool.annotations
        assert tool.annotations.read_only_hint == (tool.name != "send_message")
        assert tool.input_schema["type"] == "object"
        assert "x-ko" not in json.dumps(tool.input_schema)
        assert re.search("[가-힣]", tool.description or "")
    if "send_message" in more:
        assert "2명" in str(tools["dry_run"].description)


@pytest.fixture
def scripted() -> Iterator[ScriptedService]:
    with ScriptedService() as service:
        yield service


@pytest.mark.real_time
async def test_send_without_an_answer_is_repeated_with_the_same_idempotency_key(scripted: ScriptedService) -> None:
    accepted = succeed(item={"requestId": "0" * 32})
    scripted.answers = [
        refuse("MISSING_PARAMETER", 400),
        succeed(item={"wouldAccept": True}),
        LOST,
        LOST,
        LOST,
        accepted,
    ]
    async with assistant(scripted.base_url, "pb_key", "--allow-send") as client:
        confirmed = {"confirmation": (await use(client, "dry_run", sms()))["confirmation"]}

        lost = await refused(client, "send_message", sms() | confirmed)
        sent = await use(client, "send_message", sms() | confirmed)

    assert "may have been carried out" in lost
    assert "nothing is sent twice" in lost
    assert sent["item"]["requestId"] == "0" * 32
    assert len({each.headers["idempotency-key"] for each in scripted.seen[2:]}) == 1


@pytest.mark.parametrize(
    ("url", "key", "expected"),
    [
        (None, "pb_wrong", "UNAUTHORIZED"),
        ("http://127.0.0.1:1", "pb_key", "does not answer"),
        (None, "", "no API key"),
    ],
    ids=["key", "address", "nothing"],
)
def test_command_that_cannot_call_says_so_and_ends(
    pabal_service: LocalService,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    url: str | None,
    key: str,
    expected: str,
) -> None:
    monkeypatch.setenv("LC_ALL", "C.UTF-8")

    done = run_command(capsys, "mcp", "--url", url or pabal_service.base_url, "--key", key)

    assert done.status != 0
    assert done.out == ""
    assert expected in done.err


def test_every_failure_has_advice() -> None:
    assert set(ADVICE) == set(Outcome) - {Outcome.DELIVERED}
