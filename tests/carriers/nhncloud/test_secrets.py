"""No log, metric, error or command shows a key of NHN Cloud."""

import logging
from pathlib import Path

import pytest

from pabal.carriers.nhncloud.carrier import NhnCloudCarrier
from pabal.cli.main import main
from tests.carriers.relay.delivery_fixture import send_of
from tests.fakes.nhncloud.faults import KINDS
from tests.fixtures.nhncloud import SENDER_KEY, NhnCloud
from tests.fixtures.relay_delivery import RELAY
from tests.fixtures.virtual import Caller, run_in_virtual_time
from tests.fixtures.web import call_ok, friendtalk_body, image_body, sms_body

SIGNATURE = "a signature nobody guesses"
PERSONAL = ("01020000001", "010-2000-0001", "길동")
"""A number and a name: these must not be shown either."""


def secrets_of(fixture: NhnCloud) -> tuple[str, ...]:
    relay = fixture.relay
    return relay.sms_app_key, relay.sms_secret_key, relay.talk_app_key, relay.talk_secret_key, SIGNATURE


def with_keys(folder: Path, secrets: tuple[str, ...]) -> Path:
    """Write the settings file of an operator of this relay."""
    names = ("sms_app_key", "sms_secret_key", "talk_app_key", "talk_secret_key", "webhook_signature")
    lines = [f'{name} = "{value}"' for name, value in zip(names, secrets, strict=True)]
    file = folder / "pabal.toml"
    routes = ['[routes]\nsms = ["relay"]']
    file.write_text("\n".join([f"[carriers.{RELAY}]", 'kind = "nhncloud"', *lines, *routes]), encoding="utf-8")
    return file


async def send_all(call: Caller) -> None:
    """Send a message of each product with an endpoint of its own."""
    receiver = PERSONAL[1]
    await call_ok(call, "message/sendSMS", sms_body(receiver))
    await call_ok(call, "message/sendMMS", sms_body(receiver, image=image_body()))
    await call_ok(call, *send_of("alimTalk", SENDER_KEY, receiver))
    await call_ok(call, "message/sendFriendtalk", friendtalk_body(SENDER_KEY, receiver, image=image_body()))


def test_no_error_reveals_a_key(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    fixture = NhnCloud()
    secrets = secrets_of(fixture)
    shown: list[str] = []

    async def scenario() -> None:
        async with fixture.running(tmp_path, webhook_signature=SIGNATURE) as env:
            carrier = env.context.carriers[RELAY]
            assert isinstance(carrier, NhnCloudCarrier)
            call = await fixture.add_channel(env)

            async def record_output() -> None:
                metrics = bytes((await call("/metrics")).body).decode()
                shown.extend([metrics, carrier.problem, repr(carrier), str(fixture.anomalies)])

            for kind in KINDS:
                fixture.relay.inject_fault(kind, times=4, seconds=15)
                await send_all(call)
                await env.wait(30)
                await record_output()
            for body, signature in ((b"{}", "wrong"), (b"nonsense", SIGNATURE), (b'{"event": 1}', SIGNATURE)):
                answer = await call(
                    f"/hooks/{RELAY}", body, method="POST", headers={"X-Toast-Webhook-Signature": signature}
                )
                shown.append(str(answer))
            fixture.relay.sms_secret_key = fixture.relay.talk_app_key = "changed meanwhile"
            await send_all(call)
            await env.wait(100)
            assert not carrier.is_connected
            await record_output()
            fixture.set_reachable(False)
            await env.wait(100)
            await record_output()

    run_in_virtual_time(scenario())
    file = with_keys(tmp_path, secrets)
    for command in ("settings", "doctor"):
        main([command, "--data", str(tmp_path), "--config", str(file)])
    shown.extend(capsys.readouterr())

    assert "carriers.relay.sms_secret_key = (set)" in shown[-2]
    assert "the carrier relay has been" in shown[-2]
    records = [f"{record.getMessage()} {vars(record)}" for record in caplog.records]
    assert any("carrier is down" in record for record in records)
    for each in (*shown, *records):
        assert not any(secret in each for secret in secrets), each
    ours = [f"{each.getMessage()} {vars(each)}" for each in caplog.records if each.name.startswith("pabal")]
    for each in (*shown, *ours):
        assert not any(word in each for word in PERSONAL), each
