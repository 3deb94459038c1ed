"""The faults of NHN Cloud and of the gateway in front of it, with their answers."""

from tests.fakes import relay_faults
from tests.fakes.nhncloud.answers import Reply, header, json_reply


def gateway_reply(status: int, code: int, message: str) -> Reply:
    """Return an answer of the gateway: it has the same header as those of the services."""
    return json_reply(header(code, message), status)


SYSTEM_ERROR = json_reply(header(-9999, "System error. Please inquire at support@toast.com."))
THROTTLED = gateway_reply(429, 4291000, "Too Many Requests")
TOO_LARGE = gateway_reply(
    413, 4131000, "Request size is larger than permissible limit. the permissible limit is 10mb."
)
BAD_GATEWAY = gateway_reply(502, 5020001, "Upstream Bad Gateway (Connection reset by peer)")
GATEWAY_PAGE = Reply(502, "text/html", b"<html><body><h1>502 Bad Gateway</h1></body></html>")
INSTEAD = {
    "gateway 400": gateway_reply(400, 4000007, "Bad Request (body)"),  # it finds the request invalid
    "gateway 401": gateway_reply(401, 4011001, "Authorization is empty."),  # it wants other credentials
    "gateway 403": gateway_reply(403, 4031007, "Request IP not allowed"),  # it does not allow our address
    "gateway 404": gateway_reply(404, 4041007, "URL Not Found"),  # it does not know the path
    "gateway 502": BAD_GATEWAY,  # it could not reach the service
    "gateway 503": gateway_reply(503, 5030001, "Upstream Service Unavailable (CircuitBreaker is open)"),
    "call quota": gateway_reply(429, 4291001, "Usage quota exceeded."),
    "throttle": THROTTLED,  # too many calls a second
    "html 502": GATEWAY_PAGE,  # something in front of the gateway answers with a page
    "system error": SYSTEM_ERROR,
}
"""What is answered to a call that is not accepted.

What the gateway in front of the services answers: API-Gateway ko/error-code.md, each code under its own heading.
That the services are behind this gateway is not written anywhere. Their names end in `.api.nhncloudservice.com`, as
those of the gateway's stages do (API-Gateway ko/console-guide.md).
"""
AFTER = {
    "gateway 502 accepted": BAD_GATEWAY,
    "gateway 504": gateway_reply(504, 5040001, "Gateway Timeout (Upstream ReadTimeout. limit: 60000ms)"),
    "html 502 accepted": GATEWAY_PAGE,
    "system error accepted": SYSTEM_ERROR,
}
"""What is answered to a call that is accepted; the gateway gives up after 60 s."""
KINDS = (*relay_faults.KINDS, *INSTEAD, *AFTER)
