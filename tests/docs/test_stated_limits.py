"""Checks that limits which pages state in words are those of the code, in both languages."""

from typing import NamedTuple

import pytest

from docs import generate
from pabal.client.exchange import Retries
from pabal.console.history import export
from pabal.console.sheets import sheet_limits
from pabal.domain.base.dates import DAY
from pabal.domain.people import contact
from pabal.service.upkeep import housekeeping
from pabal.service.upkeep.statistics import STATISTICS_RETENTION_MS
from pabal.service.webhooks import retries
from pabal.settings.settings import Settings
from pabal.store.engine.postgres import postgres_store
from pabal.store.events import webhook_posts
from pabal.webhooks.client import POST_TIMEOUT_S

MIB = 1024 * 1024


class Stated(NamedTuple):
    """What a page says, in English and in Korean, of a value in the code."""

    page: str
    english: str
    korean: str
    value: float
    expected: float


STATED = (
    Stated("postgresql", "up to twenty times", "최대 스무 번", postgres_store.MAX_RETRIES, 20),
    Stated("python-client", "five times in all", "처음을 포함해 최대 다섯 번", Retries().attempts, 5),
    Stated("behind-a-proxy", "by default 8 MiB", "기본 8 MiB", Settings().max_body_bytes, 8 * MIB),
    Stated("behind-a-proxy", "up to 32 MiB", "32 MiB까지", sheet_limits.MAX_FILE_BYTES, 32 * MIB),
    Stated(
        "behind-a-proxy",
        "client_max_body_size 33m",
        "client_max_body_size 33m",
        sheet_limits.MAX_FILE_BYTES,
        32 * MIB,
    ),
    Stated("console", "32 MiB", "32 MiB", sheet_limits.MAX_FILE_BYTES, 32 * MIB),
    Stated("console", "200,000 rows", "행 200,000개", sheet_limits.MAX_ROWS, 200_000),
    Stated("console", "1,048,576 with blank ones", "1,048,576개", sheet_limits.MAX_ROW_NUMBER, 1_048_576),
    Stated("console", "200 columns", "열 200개", sheet_limits.MAX_COLUMNS, 200),
    Stated("console", "up to 20 fields", "최대 20개의 항목", contact.MAX_FIELDS, 20),
    Stated(
        "console", "`max_contacts` (1,000,000)", "`max_contacts`(1,000,000)", Settings().max_contacts, 1_000_000
    ),
    Stated("console", "up to 1,000,000 rows", "1,000,000행까지", export.MAX_ROWS, 1_000_000),
    Stated("console", "kept for 400 days", "400일 동안 보관", housekeeping.AUDIT_LOG_RETENTION_MS, 400 * DAY),
    Stated("console", "for 100 days", "100일 동안", STATISTICS_RETENTION_MS, 100 * DAY),
    Stated("webhooks", "up to 100 items", "항목은 100개까지", retries.MAX_ITEMS, 100),
    Stated("webhooks", "Up to 16 deliveries", "최대 16건", retries.MAX_IN_FLIGHT, 16),
    Stated("webhooks", "within 10 seconds", "10초 안에", POST_TIMEOUT_S, 10),
    Stated("webhooks", "After ten failures", "열 번 실패하고", retries.PAUSE_FAILURES, 10),
    Stated("webhooks", "the last 1,000 tries", "최근 시도 1,000건", webhook_posts.MAX_DELIVERIES, 1000),
    Stated("idempotency", "for 24 hours", "24시간", Settings().idempotency_hours, 24),
    Stated("sender-profiles", "After 30 minutes", "30분", Settings().token_minutes, 30),
    Stated("behind-a-proxy", "`idle_seconds` (30)", "`idle_seconds`(30)", Settings().idle_seconds, 30),
    Stated("sizing", "`max_held_bytes` (64 MiB)", "`max_held_bytes`(64 MiB)", Settings().max_held_bytes, 64 * MIB),
    Stated("sizing", "`key_rate`, 1,000 requests", "`key_rate`, 초당 1,000건", Settings().key_rate, 1000),
    Stated("sizing", "as `slots`, 8", "저장소를 만들 때 달리 정하지 않았으면 8개", Settings().slots, 8),
)


@pytest.mark.parametrize("stated", STATED, ids=lambda stated: f"{stated.page}: {stated.english}")
def test_page_states_the_limit_that_holds(stated: Stated) -> None:
    english, korean = (
        (generate.DOCS / folder / f"{stated.page}.md").read_text(encoding="utf-8")
        for folder in ("how-to", "ko/how-to")
    )

    assert stated.value == stated.expected, f"the code has {stated.value}: correct {stated.page}.md and its twin"
    assert stated.english in english
    assert stated.korean in korean
