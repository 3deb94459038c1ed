"""An older version on a store that a newer one has migrated: what runs goes on, what starts is refused."""

import asyncio
from pathlib import Path

import pytest

from pabal.settings.settings import load
from pabal.store.engine.base import Tx
from pabal.store.engine.migrate import all_migrations
from pabal.store.open_store import open_store
from pabal.world import RealWorld
from tests.crash.clients import wait_until_idle
from tests.fixtures import postgres
from tests.fixtures.engines import ENGINES
from tests.fixtures.live import run, serving

NEXT = all_migrations()[-1].number + 1
TABLES = (
    "accounts",
    "keys",
    "numbers",
    "requests",
    "messages",
    "jobs",
    "receipts",
    "idempotency_keys",
    "cursors",
    "simulated_messages",
)


def migrate_further(tx: Tx) -> None:
    """Do what the rules let a newer version's migration do to the tables of a send."""
    for table in TABLES:
        tx.execute(f"alter table {table} add column added {{small}} not null default 1")
    tx.execute("create index if not exists of_the_next_version on messages (completed_at)")
    tx.execute("insert into migrations (number, name, applied_at) values (?, 'of the next version', 0)", (NEXT,))


def migrated_further(data: Path) -> None:
    async def run() -> None:
        settings = load({}, data=data, store=postgres.address_in(data.parent) or None)
        store = open_store(settings, RealWorld())
        await store.write(migrate_further)
        await store.close()

    asyncio.run(run())


@pytest.mark.slow
@pytest.mark.parametrize("engine", ENGINES)
def test_service_survives_a_newer_migration_but_does_not_restart(engine: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    if engine == "postgresql":
        (tmp_path / postgres.ADDRESS_FILE).write_text(postgres.create_database("side_by_side"), encoding="utf-8")
    body = {"content": "안녕하세요", "sender": "02-123-4567", "receivers": [{"phoneNumber": "010-1234-5678"}]}

    with serving(data) as live, live.client() as client:
        answers = [client.post("/api/message/sendSMS.v1.0", json=body).json()["result"]]
        migrated_further(data)
        answers += [client.post("/api/message/sendSMS.v1.0", json=body).json()["result"] for _ in range(20)]
        asyncio.run(wait_until_idle(live.base_url))
        history = client.post("/api/message/list.v1.0", json={"receivers": "010-1234-5678", "pageSize": 100}).json()
        assert live.stop() == 0
    again = run("serve", "--port", "0", data=data)

    assert set(answers) == {"SUCCESS"}
    assert [each["sendingStatus"]["value"] for each in history["items"]] == ["completed"] * 21
    assert again.returncode == 2
    assert f"the store is at schema {NEXT}" in again.stderr
    if engine == "postgresql":
        postgres.drop_database("side_by_side")
