"""Reads the sender numbers that are registered at NHN Cloud."""

from typing import Any

from pabal.carriers.base import RelayNumber
from pabal.carriers.nhncloud.client import NhnCloudClient, expect_documented_shape

PATH = "/sms/v3.0/appKeys/{appkey}/sendNos"
PAGE_SIZE = 100
MAX_PAGES = 1000


async def list_numbers(client: NhnCloudClient, timeout_s: float) -> list[RelayNumber]:
    """Return every number; no largest page is documented, so pages are read up to the total.

    Raises what NhnCloudClient.request raises.
    """
    found: list[RelayNumber] = []
    for page in range(1, MAX_PAGES + 1):
        query = {"pageNum": page, "pageSize": PAGE_SIZE}
        answer = await client.request("GET", PATH, query=query, timeout_s=timeout_s)
        rows: list[dict[str, Any]] = []
        total = 0
        with expect_documented_shape():
            rows, total = list(answer["body"]["data"] or ()), int(answer["body"]["totalCount"])
            found += [_parse(row) for row in rows]
        if not rows or len(found) >= total:
            break
    return found


def _parse(row: dict[str, Any]) -> RelayNumber:
    is_usable = row.get("useYn") != "N" and row.get("blockYn") != "Y"
    return RelayNumber(str(row["sendNo"]).replace("-", ""), is_usable)
