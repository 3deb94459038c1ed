"""The query of the statistics, whose field `from` is no name of Python."""

from collections.abc import Sequence

import msgspec

from pabal.models.statistics import ListStatistics


def statistics_since(
    since: str, until: str | None = None, *, interval: str = "day", group_by: Sequence[str] = ()
) -> msgspec.Struct:
    """Return the body of `list_statistics`: messages requested from `since` to `until`, both included."""
    fields = {"from": since, "to": until, "interval": interval, "groupBy": ",".join(group_by) or None}
    return msgspec.convert(fields, ListStatistics)
