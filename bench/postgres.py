"""Accepting, campaigns and delivery on PostgreSQL on the same cores, compared with bare operations."""

import time
from pathlib import Path

from bench import accept, campaign, deliver
from bench.copy_rows import copy_all
from bench.database import PostgresEnvironment, postgres_environment
from bench.figures import Figure
from bench.fill import REQUEST_RECEIVERS
from bench.server import BenchEnvironment
from pabal.service.sending.accept import NewRequest


def measure(env: BenchEnvironment) -> list[Figure]:
    """Run the benchmarks of SQLite on PostgreSQL; the bare inserts use COPY."""
    with postgres_environment(env) as postgres:

        def copied(data: Path, new_requests: list[NewRequest]) -> float:
            return _measure_copy(postgres, data, new_requests)

        figures = [
            *accept.measure(postgres, max_servers=2),
            *campaign.measure(postgres, "COPY", copied),
            *deliver.measure(postgres, is_settled_enough=True),
        ]
    return [each._replace(name="postgres") for each in figures]


def _measure_copy(env: PostgresEnvironment, data: Path, new_requests: list[NewRequest]) -> float:
    """Return how many receivers per second one connection copies, in transactions of a thousand."""
    with env.connect(data) as connection:
        began = time.perf_counter()
        for each in new_requests:
            copy_all(connection, [each])
        return len(new_requests) * REQUEST_RECEIVERS / (time.perf_counter() - began)
