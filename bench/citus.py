"""Delivery on a Citus that the environment names, compared with a plain PostgreSQL on the same cores."""

from pathlib import Path

from bench.database import postgres_environment
from bench.deliver import measure_delivery
from bench.figures import Figure
from bench.fill import REQUEST_RECEIVERS, WORLD, fill, with_store
from bench.server import SETTINGS_FILE, BenchEnvironment, report_progress
from pabal.store.engine.base import Store
from pabal.store.engine.citus import distribution as distribution
from pabal.store.engine.migrate import migrate
from pabal.store.queue import slots
from tests.fixtures import citus

TARGET = 0.5
MESSAGES = 20_000
SLOTS = 8
DATABASE = "pabal_bench"


def measure(env: BenchEnvironment) -> list[Figure]:
    """Deliver the same messages on both; nothing without a Citus."""
    if not citus.is_available():
        report_progress(f"  {citus.NOT_RUN}")
        return []
    with postgres_environment(env) as postgres:
        data = postgres.copy_store()
        fill(data, MESSAGES // REQUEST_RECEIVERS)
        plain, _ = measure_delivery(postgres, data, MESSAGES)
    data = _prepare(env)
    fill(data, MESSAGES // REQUEST_RECEIVERS)
    rate, cpu_us = measure_delivery(env, data, MESSAGES)
    citus.drop_database(DATABASE)
    details = f"{rate:,.0f}/s of {plain:,.0f}/s, {cpu_us:.0f} µs CPU of the service per message"
    return [Figure("citus", "delivered on Citus / on PostgreSQL", rate / plain, target=TARGET, details=details)]


def _prepare(env: BenchEnvironment) -> Path:
    """Distribute an empty store; return its data directory."""
    data = env.root / DATABASE
    data.mkdir()
    (data / SETTINGS_FILE).write_text(f'store = "{citus.create_database(DATABASE)}"\n', encoding="utf-8")

    async def distribute(store: Store) -> None:
        await store.write(migrate, WORLD.now())
        await store.write(distribution.distribute)
        await store.write(slots.ensure_slots, SLOTS)
        await store.write(slots.spread_slots)

    with_store(data, distribute)
    return data
