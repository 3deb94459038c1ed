"""`pabal webhook listen` passes on what webhooks would be told, signed, to a server on this machine."""

import json
import signal
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from threading import Thread

import pytest

from pabal.client import CreateWebhook, read_post
from pabal.client.errors import InvalidPostError
from pabal.models.webhook_posts import MessageResultPost
from tests.fixtures.calling import SENDER, CallingLine

PHONE = "010-1234-5678"


class LocalServer(ThreadingHTTPServer):
    """A developer's own server, which answers 204 and keeps what it got."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.posts: Queue[tuple[dict[str, str], bytes]] = Queue()

    @property
    def url(self) -> str:
        return f"http://localhost:{self.server_port}/hook"


class _Handler(BaseHTTPRequestHandler):
    server: LocalServer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.posts.put((dict(self.headers.items()), body))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[LocalServer]:
    with LocalServer() as running:
        Thread(target=running.serve_forever).start()
        yield running
        running.shutdown()


def send(line: CallingLine, text: str) -> None:
    sent = line("send", "sms", "--to", PHONE, "--from", SENDER, "--content", text)
    line.account.wait_until_ended(sent.out.strip())


def contents(post: object) -> list[object]:
    assert isinstance(post, MessageResultPost)
    return [each.content for each in post.data.items]


def test_results_are_passed_on_signed_until_it_is_stopped(line: CallingLine, server: LocalServer) -> None:
    with line.start("webhook", "listen", "--forward-to", server.url, "--json") as process:
        assert process.stdout
        assert process.stderr
        secret = process.stderr.readline().split()[-1]
        assert process.stderr.readline() == f"Forwarding events to {server.url}. Stop with Ctrl-C.\n"
        try:
            send(line, "하나")
            headers, body = server.posts.get(timeout=30)
            told = json.loads(process.stdout.readline())
            process.send_signal(signal.SIGINT)
            assert process.wait(10) == 130
        finally:
            process.kill()  # or a failure would wait for it forever

    assert contents(read_post(secret, headers, body)) == ["하나"]
    assert (told["type"], told["status"], told["error"]) == ("message.result", 204, "")
    assert told["id"] == headers["webhook-id"]
    with pytest.raises(InvalidPostError):
        read_post(secret, headers, body + b" ")


def test_events_of_the_past_are_posted_again_with_the_same_ids(line: CallingLine, server: LocalServer) -> None:
    send(line, "둘")
    (result,) = line.account.client.list_results().items
    since = result.requestDate[:16]
    got = []
    for _ in range(2):
        options = (
            "--forward-to",
            server.url,
            "--since",
            since,
            "--secret",
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        )
        with line.start("webhook", "listen", *options) as process:
            try:
                got.append(server.posts.get(timeout=30))
            finally:
                process.kill()

    assert got[0][0]["webhook-id"] == got[1][0]["webhook-id"]
    assert contents(read_post("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", *got[1])) == ["둘"]


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


def test_local_service_posts_to_a_webhook_on_this_machine(line: CallingLine, server: LocalServer) -> None:
    made = line.client.create_webhook(CreateWebhook(url=server.url, events=["message.result"])).item
    send(line, "셋")

    assert contents(read_post(made.secret, *server.posts.get(timeout=30))) == ["셋"]
