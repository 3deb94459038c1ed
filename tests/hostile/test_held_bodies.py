"""Bodies that are held at once by the console and by webhooks: those beyond a caller's share get 429."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from pabal.carriers.base import OnReceipts, ReadBody, Receipt
from pabal.console.pages import PAGES
from pabal.console.shell.middleware import MAX_HELD_BYTES_PER_CALLER
from pabal.domain.sends.message import Outcome, Status
from pabal.web.http.asgi import REQUEST_ID
from tests.fixtures.console import Browser, signed_in_browser
from tests.fixtures.delivery import reference_of
from tests.fixtures.service import DEFAULT_CARRIER, FakeCarrier, sms
from tests.fixtures.virtual import Environment
from tests.fixtures.web import RunScenario

FORM = "application/x-www-form-urlencoded"
LARGEST = max((page for page in PAGES if page.method == "POST"), key=lambda page: page.max_body_bytes)
KILOBYTE = 1024


class Answer:
    """What a service has answered to a request."""

    def __init__(self, sent: Sequence[Any]) -> None:
        self.status = int(sent[0]["status"])
        self.headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}


async def post(
    env: Environment,
    path: str,
    headers: Mapping[str, str],
    parts: Sequence[bytes],
    may_end: asyncio.Event | None = None,
) -> Answer:
    """Post a body in parts, the end of which comes when it may."""
    sent: list[Any] = []
    left = iter(parts)

    async def receive() -> dict[str, Any]:
        for part in left:
            return {"type": "http.request", "body": part, "more_body": True}
        if may_end:
            await may_end.wait()
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send_message(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "http_version": "1.1",
        "scheme": "http",
        "query_string": b"",
        "extensions": {REQUEST_ID: "1"},
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 50000),
        "server": ("127.0.0.1", 80),
    }
    await env.service(scope, receive, send_message)
    return Answer(sent)


def form_headers(browser: Browser) -> dict[str, str]:
    """Return the headers of the largest form that a page takes."""
    cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    return {"cookie": cookie, "content-type": FORM, "content-length": str(LARGEST.max_body_bytes)}


async def hold_forms(env: Environment, browser: Browser, count: int, may_end: asyncio.Event) -> list[Any]:
    """Begin to post forms of the largest size; return the tasks, which end when they may."""
    path = LARGEST.path.replace("{campaign}", "0" * 26)
    tasks = [asyncio.create_task(post(env, path, form_headers(browser), [b"a=1"], may_end)) for _ in range(count)]
    await env.wait(0.1)
    return tasks


async def test_user_who_holds_too_many_bytes_gets_429_and_others_do_not(env: Environment) -> None:
    greedy = await signed_in_browser(env)
    may_end = asyncio.Event()
    fitting = MAX_HELD_BYTES_PER_CALLER // LARGEST.max_body_bytes
    tasks = await hold_forms(env, greedy, fitting + 1, may_end)

    (refused,) = [task.result() for task in tasks if task.done()]
    assert refused.status == 429
    assert int(refused.headers["retry-after"]) >= 1
    other = await Browser(env.service).submit("/console/login", name="", password="")
    assert other.status not in (429, 503)
    held = env.metric_value("pabal_http_body_bytes", part="console")
    assert held == fitting * LARGEST.max_body_bytes
    may_end.set()
    await asyncio.gather(*tasks)
    assert env.metric_value("pabal_http_body_bytes", part="console") == 0


class HookedCarrier(FakeCarrier):
    """A carrier whose webhook says that every message named in its lines has arrived."""

    async def handle_webhook(
        self, headers: Mapping[str, str], read_body: ReadBody, on_receipts: OnReceipts
    ) -> None:
        names = (await read_body()).decode().split()
        await on_receipts([Receipt(name, Outcome.DELIVERED) for name in names])


def test_webhooks_beyond_the_share_of_a_carrier_get_429_and_are_stored_later(run_scenario: RunScenario) -> None:
    carrier = HookedCarrier()
    blanks = b" " * KILOBYTE

    async def scenario(env: Environment) -> None:
        request_id = await env.send(sms())
        await env.wait(1)
        reference = reference_of(request_id).encode()
        may_end = asyncio.Event()
        path = f"/hooks/{DEFAULT_CARRIER}"
        first = asyncio.create_task(post(env, path, {}, [blanks], may_end))
        await env.wait(0.1)
        refused = await post(env, path, {}, [blanks, reference])

        assert refused.status == 429
        assert int(refused.headers["retry-after"]) >= 1
        assert await env.outcomes_of(request_id) == [(Status.SENDING, None)]
        may_end.set()
        assert (await first).status == 200
        again = await post(env, path, {}, [blanks, reference])
        assert again.status == 200
        assert await env.outcomes_of(request_id) == [(Status.COMPLETED, Outcome.DELIVERED)]

    run_scenario(scenario, carriers={DEFAULT_CARRIER: carrier}, max_held_bytes_per_key=KILOBYTE)
