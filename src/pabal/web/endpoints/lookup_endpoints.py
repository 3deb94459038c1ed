"""The endpoints that look up messages."""

from pabal.domain.base.codes import Code
from pabal.models import lookup, statistics
from pabal.web.endpoints import lookups
from pabal.web.endpoints.endpoint import Endpoint

LOOKUP_ENDPOINTS = (
    Endpoint(
        method="GET",
        path="/api/message/detail.v1.0",
        operation_id="look_up_message",
        group="History",
        scope="read",
        input_source="query",
        body=lookup.GetMessage,
        answer=lookup.MessageDetailAnswer,
        handler=lookups.get_message,
        own_codes=(Code.MISSING_PARAMETER, Code.UNSUPPORTED_CHARACTER, Code.MESSAGE_NOT_FOUND),
    ),
    Endpoint(
        method="GET",
        path="/api/statistics/list.v1.0",
        operation_id="list_statistics",
        group="History",
        scope="read",
        input_source="query",
        body=statistics.ListStatistics,
        answer=statistics.StatisticsAnswer,
        handler=lookups.list_statistics,
        own_codes=(Code.MISSING_PARAMETER, Code.UNSUPPORTED_CHARACTER, Code.INVALID_DATE),
    ),
)
