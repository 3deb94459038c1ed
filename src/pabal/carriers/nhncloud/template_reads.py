"""Reads how often messages of templates were read and clicked, from NHN Cloud's statistics of Kakao."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from pabal.carriers.base import TemplateReads
from pabal.carriers.nhncloud.client import NhnCloudClient, expect_documented_shape

PATH = "/common/v2.2/appkeys/{{appkey}}/kakao-statistics/template-statistics/{}"
ALIMTALK, BRAND = ("ALIMTALK", "alimtalkTemplateStatistics"), ("BRANDMESSAGE", "brandmessageTemplateStatistics")
PAGE_SIZE = 1000
MAX_PAGES = 100
MIN_COUNTED = 11
"""Fewer have no figures (ko/common-api-guide.md: "발송 성공 건수가 10건 이하이면 … 제공하지 않습니다")."""


class ReadQuery(NamedTuple):
    """The days of a sender profile that are asked for."""

    sender_key: str
    first: date
    last: date


async def list_reads(
    client: NhnCloudClient, kind: tuple[str, str], query: ReadQuery, timeout_s: float
) -> list[TemplateReads]:
    """Return the figures of every template and day that has some.

    Raises what NhnCloudClient.request raises.
    """
    path, name = kind
    found: list[TemplateReads] = []
    for page in range(MAX_PAGES):
        answer = await client.request(
            "GET",
            PATH.format(path),
            query={
                "senderKey": query.sender_key,
                "periodType": "DAILY",
                "startDate": query.first.isoformat(),
                "endDate": query.last.isoformat(),
                "limit": PAGE_SIZE,
                "offset": page * PAGE_SIZE,
            },
            timeout_s=timeout_s,
        )
        rows: Sequence[Mapping[str, Any]] = ()
        total = 0
        with expect_documented_shape():
            rows, total = list(answer[name] or ()), int(answer["totalCount"])
            found += [_parse(row) for row in rows if _has_figures(row)]
        if not rows or (page + 1) * PAGE_SIZE >= total:
            break
    return found


def _has_figures(row: Mapping[str, Any]) -> bool:
    return int(row["totalSendSuccessCount"]) >= MIN_COUNTED and row["validReadCount"] is not None


def _parse(row: Mapping[str, Any]) -> TemplateReads:
    return TemplateReads(
        str(row["date"]), str(row["templateCode"]), int(row["validReadCount"]), int(row["totalClickCount"] or 0)
    )
