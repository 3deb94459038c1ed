"""The pages beside the API: health checks, metrics and documentation."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Concatenate

import httpx
import jsonschema_rs
import pytest
from prometheus_client.parser import text_string_to_metric_families
from schemathesis.specs.openapi.definitions import OPENAPI_31

from pabal.app import build_service
from pabal.domain.base.codes import Code
from pabal.domain.base.dates import DAY
from pabal.store.accounts import accounts
from pabal.store.engine.base import Store, StoreUnavailable, Tx
from pabal.store.engine.postgres import partitions
from pabal.store.events import webhooks
from pabal.store.queue import cursors
from pabal.web.endpoints.table import ENDPOINTS
from tests.fixtures.cases import with_each
from tests.fixtures.cluster import Cluster
from tests.fixtures.cluster import run_scenario as run_cluster_scenario
from tests.fixtures.engines import partitioned_only, sqlite_only
from tests.fixtures.virtual import Caller, Environment, VirtualWorld, open_store, settings_for
from tests.fixtures.web import FailingStore, P, RunScenario, T, call_ok, read_metrics, sms_body
from tests.fixtures.webhook_calls import create as create_webhook


class SilentStore(FailingStore):
    """A store that does not answer while `answers` is cleared."""

    def __init__(self, store: Store) -> None:
        super().__init__(store)
        self.answers = asyncio.Event()
        self.answers.set()

    async def write(self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        await self.answers.wait()
        return await super().write(work, *args, **kwargs)

    async def read(self, work: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        await self.answers.wait()
        return await super().read(work, *args, **kwargs)


async def test_running_service_is_healthy_and_ready(env: Environment) -> None:
    call = Caller(env.service, None)

    health, ready = await call("/healthz"), await call("/readyz")

    assert (health.status, health.result, health.body["status"]) == (200, "SUCCESS", "ok")
    assert (ready.status, ready.result, ready.body["status"]) == (200, "SUCCESS", "ready")


async def test_service_with_unavailable_store_is_healthy_but_not_ready(
    failing_store: FailingStore, env: Environment
) -> None:
    call = Caller(env.service, None)
    failing_store.error = StoreUnavailable("gone")

    broken = [await call(page) for page in ("/healthz", "/readyz")]
    figures = await read_metrics(call)
    failing_store.error = None
    await env.wait(60)

    assert [answer.status for answer in broken] == [200, 503]
    assert (figures["pabal_store_up"], "pabal_webhook_endpoints_paused" in figures) == (0, False)
    assert "pabal_http_connections_limit" in figures, "those of the process itself are there"
    figures = await read_metrics(call)
    assert (figures["pabal_store_up"], figures["pabal_webhook_endpoints_paused"]) == (1, 0)
    assert (await call("/readyz")).status == 200


def test_store_that_does_not_answer_delays_no_page(run_scenario: RunScenario, tmp_path: Path) -> None:
    world = VirtualWorld()
    store = SilentStore(open_store(tmp_path, world))

    async def scenario(env: Environment) -> None:
        call = Caller(env.service, None)
        assert (await read_metrics(call))["pabal_store_up"] == 1
        await env.wait(2)
        store.answers.clear()
        began = env.world.monotonic()

        ready = await call("/readyz")
        figures = [await read_metrics(call), await read_metrics(call)]

        assert env.world.monotonic() - began <= 3 * 2
        assert (ready.status, [each["pabal_store_up"] for each in figures]) == (503, [0, 0])
        store.answers.set()
        await env.wait(2)
        assert (await read_metrics(call))["pabal_store_up"] == 1

    run_scenario(scenario, world=world, store=store)


async def test_service_that_cannot_write_is_not_ready(failing_store: FailingStore, env: Environment) -> None:
    call = Caller(env.service, None)
    failing_store.write_error = StoreUnavailable("full")

    answer = await call("/readyz")
    failing_store.write_error = None

    assert (answer.status, answer.result) == (503, "SERVICE_UNAVAILABLE")


@sqlite_only
async def test_service_that_can_write_little_on_a_full_disk_is_not_ready(env: Environment) -> None:
    def limit_pages(tx: Tx, limit: int | None) -> None:
        (pages,) = tx.fetch_one("pragma page_count") or (0,)
        tx.fetch_all(f"pragma max_page_count = {limit or pages}")

    call, visit = await env.caller(), Caller(env.service, None)
    large = sms_body(*(f"0101234{number:04}" for number in range(1000)))
    await env.store.write(limit_pages, None)
    before = await visit("/readyz")
    refused = await call("message/sendSMS", large)
    await env.store.write(cursors.write_probe, "small enough", env.world.now())
    await env.wait(1)

    full = await visit("/readyz")
    await env.store.write(limit_pages, 1_000_000)
    await env.wait(2)
    mended = await visit("/readyz")

    assert (before.status, refused.status, refused.result) == (200, 503, "SERVICE_UNAVAILABLE")
    assert (full.status, full.result, mended.status) == (503, "SERVICE_UNAVAILABLE", 200)
    assert (await call("message/sendSMS", large)).status == 200


async def test_service_that_is_stopping_is_not_ready(env: Environment) -> None:
    call = Caller(env.service, None)
    await env.service.stop()

    assert (await call("/readyz")).status == 503
    assert (await call("/healthz")).status == 200


async def test_metrics_count_messages(env: Environment, call: Caller) -> None:
    jobs = 'pabal_queue_jobs{carrier="simulator",lane="%s"}'
    age = 'pabal_queue_oldest_due_seconds{carrier="simulator",lane="small"}'
    accepted_sms = 'pabal_messages_accepted_total{product="sms"}'

    empty = await read_metrics(call)
    later = await call_ok(call, "message/sendSMS", sms_body(sendDate="2026-11-15 13:00"))
    await call_ok(call, "message/sendSMS", sms_body(*["010-1111-1111"] * 11, sendDate="2026-11-15 13:00"))
    await call_ok(call, "message/sendSMS", sms_body("010-0000-0006", "010-0000-0001", "010-1234-5678"))
    await call("message/sendSMS", {})
    await env.wait(2)
    moved = await read_metrics(call)
    await call_ok(call, "message/cancel", {"requestId": later.request_id})
    await env.wait(1)
    cancelled = await read_metrics(call)

    assert accepted_sms not in empty
    assert empty[jobs % "small"] == empty[jobs % "campaign"] == empty[jobs % "awaiting_receipt"] == 0
    assert moved[accepted_sms] == 15
    assert [moved[jobs % lane] for lane in ("small", "campaign", "awaiting_receipt")] == [1, 11, 1]
    assert moved['pabal_messages_ended_total{code="1000",product="sms"}'] == 1
    assert moved['pabal_messages_ended_total{code="3003",product="sms"}'] == 1
    assert moved['pabal_http_requests_total{path="/api/message/sendSMS.v1.0",result="SUCCESS"}'] == 3
    assert moved['pabal_http_requests_total{path="/api/message/sendSMS.v1.0",result="MISSING_PARAMETER"}'] == 1
    assert moved['pabal_carrier_verdicts_total{carrier="simulator",verdict="taken"}'] == 2
    assert moved['pabal_carrier_verdicts_total{carrier="simulator",verdict="rejected"}'] == 1
    assert moved['pabal_receipts_total{carrier="simulator"}'] == 1
    assert moved['pabal_carrier_response_seconds_count{carrier="simulator"}'] >= 1
    assert moved[age] == 0
    assert cancelled["pabal_messages_cancelled_total"] == 1
    assert cancelled[jobs % "small"] == 0


async def test_metrics_tell_for_how_long_receipts_are_awaited(env: Environment, call: Caller) -> None:
    oldest, unmatched, received = (
        f'pabal_receipts_{name}{{carrier="simulator"}}'
        for name in ("oldest_awaited_seconds", "unmatched_total", "total")
    )
    empty = await read_metrics(call)
    await call_ok(call, "message/sendSMS", sms_body("010-0000-0006"))
    await env.wait(20 * 60)
    late = await read_metrics(call)

    assert (empty[oldest], empty[unmatched], empty[received]) == (0, 0, 0)
    assert late[oldest] == pytest.approx(20 * 60, abs=2)
    assert late[received] == 0


def test_metrics_of_any_process_tell_of_all_workers(tmp_path: Path) -> None:
    async def scenario(crowd: Cluster) -> None:
        await crowd.start_process("one")
        await crowd.start_process("two")
        other = await crowd.start_process("three", delivers=False)
        await crowd.wait(5)

        read = await read_metrics(Caller(other.env.service, None))
        await crowd.wait(3)
        later = await read_metrics(Caller(other.env.service, None))

        slots = [f'pabal_worker_slots{{worker="{name}"}}' for name in ("one", "two")]
        beats = [f'pabal_worker_heartbeats{{worker="{name}"}}' for name in ("one", "two")]
        assert sum(read[name] for name in slots) == crowd.slots
        assert all(later[name] > read[name] for name in beats)
        states = [name for name in read if name.startswith("pabal_carrier_state{")]
        assert {re.findall('worker="([^"]*)"', name)[0] for name in states} == {"one", "two"}
        assert all('state="up"' in name for name in states)

    run_cluster_scenario(tmp_path, scenario)


async def test_unknown_paths_are_counted_under_one_name(call: Caller) -> None:
    for number in range(5):
        await call(f"/api/{number}")

    assert (await read_metrics(call))['pabal_http_requests_total{path="unknown",result="NOT_FOUND"}'] == 5


async def test_metrics_count_stopped_webhooks_of_enabled_accounts(env: Environment) -> None:
    async def count() -> tuple[float, float]:
        found = await read_metrics(call)
        return found["pabal_webhook_endpoints_paused"], found["pabal_webhook_endpoints_gone"]

    call, twin = await env.caller(), await env.caller("twin")
    for each in (call, call, call, call, twin, twin):
        await create_webhook(each)
    counts = [await count()]
    for webhook_id in (1, 5):
        await env.store.write(webhooks.pause, webhook_id, env.world.now())
    for webhook_id, is_gone in ((2, True), (3, False), (6, True)):
        await env.store.write(webhooks.record_failure, webhook_id, env.world.now(), is_gone=True)
        await env.store.write(webhooks.disable, webhook_id, env.world.now(), is_gone=is_gone)
    await env.wait(60)
    counts.append(await count())
    await env.store.write(accounts.set_disabled, "twin", env.world.now())
    await env.wait(60)
    counts.append(await count())

    assert counts == [(0, 0), (2, 2), (1, 1)]


async def test_metrics_are_in_prometheus_format(env: Environment, call: Caller) -> None:
    await call_ok(call, "message/sendSMS", sms_body())
    await env.wait(2)

    answer = await call("/metrics")

    families = list(text_string_to_metric_families(answer.body.decode()))
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert len(families) > 8
    assert all(family.name.startswith(("pabal_", "process_")) and family.documentation for family in families)
    assert {family.type for family in families} <= {"counter", "gauge", "histogram"}


async def _read_openapi(env: Environment) -> Any:
    return (await Caller(env.service, None)("/openapi.json")).body


async def test_openapi_document_is_valid(env: Environment) -> None:
    document = await _read_openapi(env)

    assert document["openapi"].startswith("3.1.")
    jsonschema_rs.validate(OPENAPI_31, document)
    for schema in document["components"]["schemas"].values():
        jsonschema_rs.meta.validate({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})


def test_every_code_is_answered_by_some_endpoint_or_is_about_paths() -> None:
    declared = {code for endpoint in ENDPOINTS for code in endpoint.codes}

    assert set(Code) - declared <= {Code.NOT_FOUND}


def _fetch(folder: Path, method: str, paths: list[str]) -> list[httpx.Response]:
    """Return answers of a service in real time, since static files are read in threads."""

    async def fetch() -> list[httpx.Response]:
        service = await build_service(settings_for(folder))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(service), base_url="http://pabal") as client:
            found = [await client.request(method, path) for path in paths]
        await service.stop()
        return found

    return asyncio.run(fetch())


def test_documentation_page_loads_nothing_from_other_hosts(tmp_path: Path) -> None:
    (page,) = _fetch(tmp_path, "GET", ["/docs"])
    linked = re.findall(r'(?:href|src)="([^"]+)"', page.text)
    files = dict(zip(linked, _fetch(tmp_path, "GET", linked), strict=True))

    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "default-src 'self'" in page.headers["content-security-policy"]
    assert "<script>" not in page.text
    assert "/docs/assets/swagger-ui-bundle.js" in linked
    assert all(link.startswith("/docs") for link in linked)
    assert {link: file.status_code for link, file in files.items()} == dict.fromkeys(linked, 200)
    assert "/openapi.json" in files["/docs/start.js"].text
    assert "javascript" in files["/docs/start.js"].headers["content-type"]
    assert len(files["/docs/assets/swagger-ui-bundle.js"].content) > 100_000


@with_each(
    ("asked", "accepted", "language"),
    [
        ("", "", "ko"),
        ("", "en-US,en;q=0.9", "en"),
        ("", "fr", "ko"),
        ("en", "ko", "en"),
        ("ko", "en", "ko"),
        ("fr", "en", "en"),
    ],
)
async def test_document_and_its_page_are_in_the_language_asked_for(
    env: Environment, asked: str, accepted: str, language: str
) -> None:
    call = Caller(env.service, None, accepted)
    query = {"lang": asked} if asked else {}

    document, page = await call("/openapi.json", query=query), await call("/docs", query=query)

    summary = document.body["paths"]["/api/message/sendSMS.v1.0"]["post"]["summary"]
    assert bool(re.search("[가-힣]", summary)) == (language == "ko")
    assert f'<html lang="{language}">' in page.body.decode()
    assert document.headers["vary"] == page.headers["vary"] == "accept-language"


@pytest.mark.parametrize(
    ("method", "result"), [("GET", "NOT_FOUND"), ("POST", "METHOD_NOT_ALLOWED"), ("BREW", "METHOD_NOT_ALLOWED")]
)
def test_missing_file_is_answered_in_the_envelope(tmp_path: Path, method: str, result: str) -> None:
    paths = ["/docs/assets/nothing.js", "/docs/assets/%2e%2e/%2e%2e/pages.py", "/docs/assets/", "/docs/assets/%00"]

    answers = _fetch(tmp_path, method, paths)

    assert [answer.json()["result"] for answer in answers] == [result] * len(paths)
    assert {answer.headers["content-type"] for answer in answers} == {"application/json;charset=UTF-8"}


@with_each("page", ["/healthz", "/readyz", "/metrics", "/openapi.json", "/docs", "/docs/start.js"])
async def test_pages_answer_head_requests(env: Environment, page: str) -> None:
    call = Caller(env.service, None)

    head, whole = await call(page, method="HEAD"), await call(page)

    assert head.status == whole.status == 200
    assert head.headers["content-type"] == whole.headers["content-type"]


@partitioned_only
async def test_metrics_count_months_without_partitions_a_week_ahead(env: Environment) -> None:
    call = await env.caller()
    december = partitions.month_start(202612)
    for table in partitions.PARTITION_KEYS:
        await env.store.write(lambda tx, name: tx.execute(f"drop table {name}_202612"), table)

    env.world.starts_at += december - 6 * DAY - env.world.now()
    missing = (await read_metrics(call))["pabal_months_missing"]
    await env.wait(90)  # a round of housekeeping, and a new count

    assert missing == 1
    assert (await read_metrics(call))["pabal_months_missing"] == 0
