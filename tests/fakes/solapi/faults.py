"""The faults of Solapi, with their answers."""

from tests.fakes.nhncloud.answers import Reply, json_reply

SERVER_ERROR = json_reply({"errorCode": "InternalServerError", "errorMessage": "서버 오류"}, 500)
UNAVAILABLE = Reply(503, "text/html", b"<html><body><h1>503 Service Unavailable</h1></body></html>")
THROTTLED = json_reply({"errorCode": "TooManyRequests", "errorMessage": "too many requests"}, 429)
INSTEAD = {"system error": SERVER_ERROR, "unavailable": UNAVAILABLE, "throttle": THROTTLED}
"""What is answered to a call that is not accepted."""
AFTER = {"system error accepted": SERVER_ERROR, "unavailable accepted": UNAVAILABLE}
"""What is answered to a call that is accepted."""
