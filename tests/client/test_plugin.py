"""The fixtures for callers' tests start the whole service, quickly, and keep tests apart."""

import os
import subprocess
import sys
import tomllib
from datetime import datetime, timedelta
from pathlib import Path

import httpx
import pytest

from pabal.client import ListTemplates, ReceiverBody, SendSms, SendWebhookTest, read_post
from pabal.testing import plugin
from pabal.testing.account import TemporaryAccount
from pabal.testing.service import Clock, LocalService
from pabal.world import RealWorld

TEST_OF_A_CALLER = """
from pabal.client import ReceiverBody, SendSms


def test_customer_gets_a_message(pabal):
    receivers = [ReceiverBody(phoneNumber="010-1234-5678", templateData={"name": "길동"})]
    sent = pabal.client.send_sms(SendSms(content="#{name}님", sender="02-1234-5678", receivers=receivers))

    (message,) = pabal.wait_until_ended(sent.request_id)

    assert message.sendingStatus.value == "completed"
    assert [each.content for each in pabal.list_received("010-1234-5678")] == ["길동님"]


def test_other_test_sees_nothing_of_it(pabal):
    assert pabal.list_received("010-1234-5678") == []
"""
START = """
import os, sys
from pathlib import Path
from pabal.testing.service import LocalService

before = sum(os.times()[:2])
with LocalService(Path(sys.argv[1])):
    print(sum(os.times()[:2]) - before)
"""
MAX_START_S = 1.0
"""Processor time of a start, which does not depend on what else the machine does."""


def test_test_of_a_caller_passes(tmp_path: Path) -> None:
    (tmp_path / "test_caller.py").write_text(TEST_OF_A_CALLER, encoding="utf-8")
    by_name = ["-p", "no:pabal", "-p", "pabal.testing.plugin"]  # also where the package is not installed
    command = [sys.executable, "-m", "pytest", *by_name, "-q", "-W", "error"]
    environment = {**os.environ, "PABAL_PORT": "not a number", "PYTEST_ADDOPTS": ""}

    run = subprocess.run(
        [*command, "-p", "no:cacheprovider", "-p", "no:schemathesis", "test_caller.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert run.returncode == 0, run.stdout + run.stderr
    assert "2 passed" in run.stdout


def test_service_starts_with_less_than_a_second_of_work(tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-c", START, tmp_path / "data"], capture_output=True, text=True, timeout=120, check=False
    )

    assert run.returncode == 0, run.stderr
    assert float(run.stdout) < MAX_START_S


def test_pytest_finds_the_fixtures_by_itself() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert project["entry-points"]["pytest11"] == {"pabal": plugin.__name__}


def test_templates_are_approved_in_one_call(pabal: TemporaryAccount) -> None:
    first, second = pabal.register_template("안녕하세요"), pabal.register_template("#{name}님", "T2", name="이름")

    found = pabal.client.list_templates(ListTemplates(senderKey=first.senderKey)).items
    assert second.senderKey == first.senderKey
    assert {(each.templateCode, each.name, each.status.value) for each in found} == {
        ("T1", "T1", "approved"),
        ("T2", "이름", "approved"),
    }


def test_sink_returns_each_delivery_once_and_says_what_came_instead(pabal: TemporaryAccount) -> None:
    sink = pabal.receive_webhooks("message.result")
    pabal.client.test_webhook(SendWebhookTest(webhookId=sink.webhook_id))

    first = sink.wait_for()

    assert first.type == "webhook.test"
    assert read_post(sink.secret, first.headers, first.body) == first.post
    with pytest.raises(TimeoutError, match=r"so far: webhook\.test\. Is the event"):
        sink.wait_for(timeout_s=0)
    assert sink.deliveries == [first]


def test_sink_refuses_what_is_not_signed_by_the_service(pabal: TemporaryAccount) -> None:
    sink = pabal.receive_webhooks("message.result")

    answer = httpx.post(sink.url, content=b"{}", headers={"webhook-timestamp": "1", "webhook-signature": "v1,AA=="})

    assert answer.status_code == 401
    assert sink.deliveries == []


def test_webhook_of_a_sink_ends_with_its_test(pabal_service: LocalService) -> None:
    key = pabal_service.create_account()
    with TemporaryAccount(pabal_service.base_url, key) as account:
        sink = account.receive_webhooks("message.result")

    with TemporaryAccount(pabal_service.base_url, key) as account:
        assert account.client.list_webhooks().items == []
    with pytest.raises(httpx.ConnectError):
        httpx.post(sink.url)


def test_time_goes_back_after_a_test_and_messages_are_still_sent(
    pabal_service: LocalService, pabal: TemporaryAccount
) -> None:
    clock, before = pabal_service.clock, RealWorld().now()
    for days in (1, 400):
        clock.move_by(timedelta(days=days))
        assert _send_and_receive(pabal)
        clock.reset()

        assert _send_and_receive(pabal)
        assert clock.now().timestamp() * 1000 - before < 60_000


def test_clock_moves_only_forward(pabal_service: LocalService, pabal_clock: Clock) -> None:
    for moment in (pabal_clock.now() - timedelta(seconds=1), "2020-01-01 00:00", datetime(2020, 1, 1)):
        with pytest.raises(ValueError, match="only moves forward"):
            pabal_clock.move_to(moment)

    at = pabal_clock.now().replace(tzinfo=None, microsecond=0) + timedelta(hours=1)
    pabal_clock.move_to(at)  # in the zone of the service

    assert timedelta(0) <= pabal_clock.now().replace(tzinfo=None) - at < timedelta(minutes=1)


def _send_and_receive(account: TemporaryAccount) -> bool:
    receivers = [ReceiverBody(phoneNumber="010-1234-5678")]
    sent = account.client.send_sms(SendSms(content="안녕", sender="02-1234-5678", receivers=receivers))
    (message,) = account.wait_until_ended(sent.request_id)
    return message.sendingStatus.value == "completed"


def test_waiting_has_an_end(pabal: TemporaryAccount) -> None:
    receivers = [ReceiverBody(phoneNumber="010-0000-0006")]  # its receipt never comes
    sent = pabal.client.send_sms(SendSms(content="안녕", sender="02-1234-5678", receivers=receivers))

    with pytest.raises(TimeoutError):
        pabal.wait_until_ended(sent.request_id, timeout_s=0)


def test_service_that_cannot_start_says_why(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file, no folder")

    with pytest.raises(RuntimeError, match="has not started") as raised, LocalService(tmp_path / "data"):
        pass

    assert "cannot be used" in str(raised.value.__cause__)
