"""Carries out the page about webhooks: its calls at a running service, its receivers with signed posts."""

import asyncio
import json
import os
import re
import subprocess
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from pabal.domain.events.event import EventType
from pabal.web.api_document.example_answers import post_example
from pabal.webhooks.poster import format_secret, sign
from pabal.world import RealWorld
from tests.fakes.smsc.peer import NODE, PACKAGES
from tests.fixtures.certificates import AUTHORITY
from tests.fixtures.live import LiveService, serving
from tests.fixtures.pages import blocks, section
from tests.fixtures.webhooks import serving_tls

PAGE = section("webhooks")
ITS_URL = "https://shop.example/pabal"
ITS_DATE = "2026-11-15 09:00"
ITS_SECRET = "whsec_…"
SECRET = b"s" * 32
EXPRESS = """
const express = { raw: () => null };
const stored = [];
const statuses = [];
const storeOnce = (id) => stored.push(id);
const answer = { sendStatus: (status) => statuses.push(status) };
const app = {
  post(path, parse, handle) {
    const posts = JSON.parse(require('fs').readFileSync(0, 'utf8'));
    for (const [headers, body] of posts) handle({ headers, body: Buffer.from(body) }, answer);
    console.log(JSON.stringify([statuses, stored]));
  },
};
"""
"""What the receiver in Node.js uses of the library express: it hands the posts on standard input over."""


def example(language: str) -> str:
    """Return the first example of the page in a language, with a secret that tests sign with."""
    return blocks(PAGE, language)[0].replace(ITS_SECRET, format_secret(SECRET))


def calls() -> Iterator[tuple[str, str, Any]]:
    """Yield every call that stands in a sentence, as method, path and body: that which deletes the webhook last."""
    yesterday = datetime.now(ZoneInfo("Asia/Seoul")) - timedelta(days=1)
    text = PAGE.replace(ITS_DATE, yesterday.strftime("%Y-%m-%d %H:%M"))
    found = re.findall(r"`(GET|POST) (/api/[^\s`]+)(?: (\{[^`]*\}))?`", text)
    for method, path, body in sorted(found, key=lambda call: "/delete." in call[1]):
        yield method, path, json.loads(body) if body else None


def test_every_call_succeeds_and_the_test_event_arrives(tmp_path: Path) -> None:
    async def scenario() -> list[tuple[bytes, bytes]]:
        async with serving_tls() as receiver:
            await asyncio.to_thread(carry_out, tmp_path / "data", receiver.port)
            return receiver.requests

    posts = asyncio.run(scenario())

    assert "webhook.test" in [json.loads(body)["type"] for _, body in posts]
    assert {head.splitlines()[0] for head, _ in posts} == {b"POST /pabal HTTP/1.1"}


def carry_out(data: Path, port: int) -> None:
    """Create the page's webhook at a port of this machine, and make every call."""
    allowed: dict[str, Any] = {"webhook_allow": f"first@localhost:{port}", "webhook_tls_ca": AUTHORITY}
    with serving(data, **allowed) as service, service.client() as client:
        created = create(service, f"https://localhost:{port}/pabal")
        assert (created["result"], created["item"]["webhookId"]) == ("SUCCESS", "1")
        assert created["item"]["secret"].startswith("whsec_")
        made = [(path, client.request(method, path, json=body).json()) for method, path, body in calls()]

    assert len(made) == 8
    assert [(path, answer) for path, answer in made if answer["result"] != "SUCCESS"] == []


def create(service: LiveService, url: str) -> Any:
    """Run the command that creates a webhook; return the answer."""
    shell = subprocess.run(
        ["bash", "-u"],
        input=example("sh").replace(ITS_URL, url),
        env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "BASE": service.base_url, "KEY": service.key},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )
    return json.loads(shell.stdout)


def signed_post() -> tuple[dict[str, str], bytes, list[str]]:
    """Return headers and body of a post, and the ids of its events."""
    post = post_example(EventType.MESSAGE_RESULT)
    body = json.dumps(post).encode()
    return (
        sign([SECRET], "msg_1", RealWorld().now(), body),
        body,
        [each["eventId"] for each in post["data"]["items"]],
    )


def test_receiver_in_python_stores_signed_posts_only() -> None:
    stored: list[str] = []
    names: dict[str, Any] = {"store_once": lambda event_id, _item: stored.append(event_id)}
    exec(compile(example("python"), "webhooks.md", "exec"), names)  # noqa: S102
    headers, body, event_ids = signed_post()

    statuses = [names["receive"](body + added, headers) for added in (b"", b" ")]

    assert (statuses, stored) == ([204, 401], event_ids)


@pytest.mark.slow
def test_receiver_in_node_stores_signed_posts_only() -> None:
    assert (PACKAGES / "standardwebhooks").is_dir(), "run `make setup`"
    headers, body, event_ids = signed_post()

    done = subprocess.run(
        [NODE, "-e", EXPRESS + example("js")],
        input=json.dumps([(headers, body.decode() + added) for added in ("", " ")]),
        env={"NODE_PATH": str(PACKAGES)},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=True,
    )

    assert json.loads(done.stdout) == [[204, 401], event_ids]
