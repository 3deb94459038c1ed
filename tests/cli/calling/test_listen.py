"""`pabal webhook listen` passes on what webhooks would be told, signed, to a server on this machine."""

import json
import signal
from collections.abc import Iterator

import pytest

from pabal.client import CreateWebhook, read_post
from pabal.client.errors import InvalidPostError
from pabal.models.webhook_posts import MessageResultPost
from tests.fixtures.calling import SENDER, CallingLine
from tests.fixtures.live import STOP_TIMEOUT_S, wait_until
from tests.fixtures.scripted_service import ScriptedAnswer, ScriptedService

PHONE = "010-1234-5678"


SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


@pytest.fixture
def server() -> Iterator[ScriptedService]:
    """A developer's own server, which answers 204."""
    with ScriptedService(lambda _: ScriptedAnswer(204)) as running:
        yield running


def url_of(server: ScriptedService) -> str:
    return f"{server.base_url.replace('127.0.0.1', 'localhost')}/hook"


def wait_for_post(server: ScriptedService, number: int = 1) -> tuple[dict[str, str], bytes]:
    """Return the head and the body of a post once it has come."""
    seen = wait_until(lambda: server.seen, lambda posts: len(posts) >= number)[number - 1]
    return seen.headers, seen.body


def send(line: CallingLine, text: str) -> None:
    sent = line("send", "sms", "--to", PHONE, "--from", SENDER, "--content", text)
    line.account.wait_until_ended(sent.out.strip())


def contents(post: object) -> list[object]:
    assert isinstance(post, MessageResultPost)
    return [each.content for each in post.data.items]


def test_results_are_passed_on_signed_until_it_is_stopped(line: CallingLine, server: ScriptedService) -> None:
    with line.start("webhook", "listen", "--forward-to", url_of(server), "--json") as process:
        assert process.stdout
        assert process.stderr
        secret = process.stderr.readline().split()[-1]
        assert process.stderr.readline() == f"Forwarding events to {url_of(server)}. Stop with Ctrl-C.\n"
        try:
            send(line, "하나")
            headers, body = wait_for_post(server)
            told = json.loads(process.stdout.readline())
            process.send_signal(signal.SIGINT)
            assert process.wait(STOP_TIMEOUT_S) == 130
        finally:
            process.kill()  # or a failure would wait for it forever

    assert contents(read_post(secret, headers, body)) == ["하나"]
    assert (told["type"], told["status"], told["error"]) == ("message.result", 204, "")
    assert told["id"] == headers["webhook-id"]
    with pytest.raises(InvalidPostError):
        read_post(secret, headers, body + b" ")


def test_events_of_the_past_are_posted_again_with_the_same_ids(line: CallingLine, server: ScriptedService) -> None:
    send(line, "둘")
    (result,) = wait_until(lambda: line.account.client.list_results().items, bool)
    since = result.requestDate[:16]
    options = ("--forward-to", url_of(server), "--since", since, "--secret", SECRET)
    got = []
    for number in (1, 2):
        with line.start("webhook", "listen", *options) as process:
            try:
                got.append(wait_for_post(server, number))
            finally:
                process.kill()

    assert got[0][0]["webhook-id"] == got[1][0]["webhook-id"]
    assert contents(read_post(SECRET, *got[1])) == ["둘"]


@pytest.mark.parametrize(
    ("options", "status", "error"),
    [
        (("--forward-to", "localhost:3000"), 2, "is not an address such as http://localhost:3000/hook"),
        (("--forward-to", "http://localhost:3000", "--secret", "whsec_"), 2, "must be whsec_ and Base64"),
        (("--forward-to", "http://localhost:3000", "--since", "yesterday"), 1, "(--since)"),
        (("--forward-to", "http://localhost:3000", "--event", "message.resul"), 2, "did you mean message.result?"),
    ],
)
def test_wrong_option_is_named(line: CallingLine, options: tuple[str, ...], status: int, error: str) -> None:
    refused = line("webhook", "listen", *options)

    assert refused.status == status
    assert error in refused.err


def test_local_service_posts_to_a_webhook_on_this_machine(line: CallingLine, server: ScriptedService) -> None:
    made = line.client.create_webhook(CreateWebhook(url=url_of(server), events=["message.result"])).item
    send(line, "셋")

    assert contents(read_post(made.secret, *wait_for_post(server))) == ["셋"]
