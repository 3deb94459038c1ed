"""What `pabal doctor` checks of the workers on PostgreSQL: who runs, and whether their clocks agree."""

import asyncio

from pabal.cli.doctor.finding import Finding
from pabal.domain.base.dates import SECOND, Instant
from pabal.service.delivery.workers.heartbeat import HEARTBEAT_INTERVAL_S, LIVENESS_CHECK_S
from pabal.store.engine.base import Store, Tx
from pabal.store.engine.postgres import requirements
from pabal.store.queue import slots
from pabal.store.queue.slots import Worker

MAX_WORKER_CLOCK_DIFFERENCE_MS = 1 * SECOND
"""A worker's clock that differs more from the database's is reported."""
MAX_HEARTBEAT_AGE_MS = int(2 * HEARTBEAT_INTERVAL_S * SECOND)
"""The last heartbeat of a live worker, which has its clock, may be this old."""


async def check_workers(store: Store) -> list[Finding]:
    """List the workers, and report those whose clocks differ from the database's.

    Workers that have died together stay listed, so a clock that seems wrong is looked at twice.
    """
    workers, now = await store.read(_read_clocks)
    names = [f"{worker.name} ({held} slots)" for worker, held in workers]
    found = [Finding(True, f"workers: {', '.join(names) or 'none running'}")]
    if not any(clock_difference_ms(worker.clock_at, now) for worker, _ in workers):
        return found
    heartbeats = {worker.id: worker.heartbeat for worker, _ in workers}
    await asyncio.sleep(LIVENESS_CHECK_S)
    workers, now = await store.read(_read_clocks)
    alive = [worker for worker, _ in workers if worker.heartbeat != heartbeats.get(worker.id)]
    return found + [finding for worker in alive for finding in _compare(worker, now)]


def clock_difference_ms(clock_at: Instant, now: Instant) -> int:
    """Return how far the clock of a live worker is ahead of the database's; 0 if they may be the same."""
    ahead_ms = clock_at - now
    if ahead_ms > MAX_WORKER_CLOCK_DIFFERENCE_MS or -ahead_ms > (
        MAX_WORKER_CLOCK_DIFFERENCE_MS + MAX_HEARTBEAT_AGE_MS
    ):
        return ahead_ms
    return 0


def _compare(worker: Worker, now: Instant) -> list[Finding]:
    ahead_ms = clock_difference_ms(worker.clock_at, now)
    if not ahead_ms:
        return []
    word = "ahead of" if ahead_ms > 0 else "behind"
    message = f"the clock of the worker {worker.name} is about {abs(ahead_ms) // SECOND} s {word} the database's"
    remedy = "Set up NTP on its machine: messages come due by the clock of the process that sends."
    return [Finding(False, message, remedy)]


def _read_clocks(tx: Tx) -> tuple[list[tuple[Worker, int]], Instant]:
    return slots.list_workers(tx), requirements.server_time(tx)
