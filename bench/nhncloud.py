"""How fast messages go by NHN Cloud's interfaces, before a server that answers as their documentation says."""

from bench import nhncloud_bare, nhncloud_through
from bench.database import on_postgres
from bench.figures import Figure
from bench.server import Place


def measure(place: Place) -> list[Figure]:
    """Measure the bare server, then the service on SQLite and on PostgreSQL, then small sends."""
    bare = nhncloud_bare.measure()
    figures = nhncloud_through.measure_campaigns(place, bare, "SQLite")
    with on_postgres(place) as beside:
        figures += nhncloud_through.measure_campaigns(beside, bare, "PostgreSQL")
    return figures + nhncloud_through.measure_small(place)
