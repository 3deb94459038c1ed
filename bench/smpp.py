"""How fast and how evenly messages go to an SMPP carrier, and how long small sends wait."""

from bench import sink, smpp_pace, smpp_session, smpp_through
from bench.figures import Figure
from bench.server import BenchEnvironment


def measure(env: BenchEnvironment) -> list[Figure]:
    """Measure the bare session, then the service: at full speed, at a low rate, and during a campaign."""
    with sink.running() as sink_server:
        return [
            *smpp_session.measure(sink_server),
            *smpp_through.measure(env, sink_server),
            *smpp_pace.measure_rate(env, sink_server),
            *smpp_pace.measure_small(env, sink_server),
        ]
