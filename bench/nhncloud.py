"""How fast messages are sent through NHN Cloud's API, with a fake server that follows its documentation."""

from bench import nhncloud_bare, nhncloud_through
from bench.database import postgres_environment
from bench.figures import Figure
from bench.server import BenchEnvironment


def measure(env: BenchEnvironment) -> list[Figure]:
    """Measure the bare server, then the service on SQLite and on PostgreSQL, then texts and small sends."""
    bare = nhncloud_bare.measure()
    figures = nhncloud_through.measure_campaigns(env, bare, "SQLite")
    with postgres_environment(env) as postgres:
        figures += nhncloud_through.measure_campaigns(postgres, bare, "PostgreSQL")
    return figures + nhncloud_through.measure_texts(env) + nhncloud_through.measure_small(env)
