"""How fast messages go to a carrier that speaks SMPP, how evenly, and how long small ones wait behind others."""

from bench import sink, smpp_pace, smpp_session, smpp_through
from bench.figures import Figure
from bench.server import Place


def measure(place: Place) -> list[Figure]:
    """Measure the bare session, then the service: at full speed, at a low rate, and amid a campaign."""
    with sink.running() as far_end:
        return [
            *smpp_session.measure(far_end),
            *smpp_through.measure(place, far_end),
            *smpp_pace.measure_rate(place, far_end),
            *smpp_pace.measure_small(place, far_end),
        ]
