"""Accepting, campaigns and delivery on PostgreSQL, on the same cores, beside what it and the server do bare."""

import time
from pathlib import Path

from bench import accept, campaign, deliver
from bench.copying import copy_all
from bench.database import PostgresPlace, on_postgres
from bench.figures import Figure
from bench.fill import REQUEST_RECEIVERS
from bench.server import Place
from pabal.service.sending.accept import NewRequest


def measure(place: Place) -> list[Figure]:
    """Measure what is measured of SQLite; the bare inserts are COPY."""
    with on_postgres(place) as here:

        def copied(data: Path, promises: list[NewRequest]) -> float:
            return _copied(here, data, promises)

        figures = [
            *accept.measure(here, most_servers=2),
            *campaign.measure(here, "COPY", copied),
            *deliver.measure(here, is_settled_enough=True),
        ]
    return [each._replace(name="postgres") for each in figures]


def _copied(place: PostgresPlace, data: Path, promises: list[NewRequest]) -> float:
    """Return how many receivers a second one connection copies in, a transaction each thousand."""
    with place.connect(data) as connection:
        began = time.perf_counter()
        for each in promises:
            copy_all(connection, [each])
        return len(promises) * REQUEST_RECEIVERS / (time.perf_counter() - began)
