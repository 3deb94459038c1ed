"""One client serves several threads, and goes on in a process that was forked."""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from pabal.client import ApiError, Client, GetRequest, NoAnswerError, ReceiverBody, SendSms
from pabal.testing.account import TemporaryAccount
from tests.fixtures.scripted_service import ScriptedAnswer, ScriptedService, refuse

FORKING = """
import asyncio, os, sys
from pabal.client import {kind} as Client, ReceiverBody, SendSms

async def send(numbers):
    for number in numbers:
        receivers = [ReceiverBody(phoneNumber=f"010-7000-{{number:04}}")]
        answer = client.send_sms(SendSms(content="안녕", sender="02-1234-5678", receivers=receivers))
        if asyncio.iscoroutine(answer):
            answer = await answer
        os.write(1, answer.request_id.encode() + b"\\n")  # at once, so that processes do not mix their lines

client = Client(*sys.argv[1:])
asyncio.run(send([0]))  # now it has a connection, and random bytes
children = []
for child in (1, 2, 3):
    if not (process := os.fork()):
        asyncio.run(send(range(100 * child, 100 * child + 20)))
        os._exit(0)
    children.append(process)
if "{kind}" == "Client":  # an AsyncClient belongs to one event loop
    asyncio.run(send(range(1000, 1020)))
sys.exit(any(os.waitpid(process, 0)[1] for process in children))
"""


def _sms(number: int) -> SendSms:
    receivers = [ReceiverBody(phoneNumber=f"010-6000-{number:04}")]
    return SendSms(content="안녕", sender="02-1234-5678", receivers=receivers)


def test_threads_share_a_client_and_each_gets_its_own_answer(pabal: TemporaryAccount) -> None:
    def send_and_look_up(number: int) -> str:
        request_id = pabal.client.send_sms(_sms(number)).request_id
        (message,) = pabal.client.look_up_request(GetRequest(requestId=request_id)).items
        return message.receiver

    with ThreadPoolExecutor(8) as threads:
        receivers = list(threads.map(send_and_look_up, range(200)))

    assert receivers == [f"010-6000-{number:04}" for number in range(200)]


@pytest.mark.parametrize(("kind", "count"), [("Client", 81), ("AsyncClient", 61)])
def test_client_is_used_by_parent_and_children_after_a_fork(pabal: TemporaryAccount, kind: str, count: int) -> None:
    program = FORKING.format(kind=kind)

    run = subprocess.run(
        [sys.executable, "-c", program, pabal.base_url, pabal.api_key],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert run.returncode == 0, run.stderr
    assert len(set(run.stdout.split())) == count, "two sends had one idempotency key, or mixed up answers"


def test_answers_and_exceptions_have_the_request_id_of_the_log(pabal: TemporaryAccount) -> None:
    answer = pabal.client.send_sms(_sms(1))
    with pytest.raises(ApiError) as refused:
        pabal.client.send_sms(SendSms(content="x", sender="02-1234-5678", receivers=[]))

    assert answer.x_request_id != refused.value.x_request_id
    for found in (answer.x_request_id, refused.value.x_request_id):
        assert re.fullmatch("[0-9a-f]{16}", found)
    assert str(refused.value).endswith(f"(X-Request-Id: {refused.value.x_request_id})")


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (ScriptedAnswer(404, b"<html>", (("X-Request-Id", "r-7"),)), NoAnswerError),
        (refuse("NOT_FOUND", 404, x_request_id="r-7"), ApiError),
    ],
)
def test_id_of_an_answer_that_fails_is_kept(
    scripted: ScriptedService, answer: ScriptedAnswer, kind: type[ApiError | NoAnswerError]
) -> None:
    scripted.answers = [answer]

    with Client(scripted.base_url, "pb_key") as client, pytest.raises(kind) as raised:
        client.send_sms(_sms(1))

    assert raised.value.x_request_id == "r-7"
