"""Faults between a caller and the fake Solapi, with answers of its own."""

from tests.fakes.nhncloud import faults
from tests.fakes.nhncloud.answers import Reply, Request, json_reply
from tests.fakes.nhncloud.faults import Fault, FaultInjector, Handler

SERVER_ERROR = json_reply({"errorCode": "InternalServerError", "errorMessage": "서버 오류"}, 500)
UNAVAILABLE = Reply(503, "text/html", b"<html><body><h1>503 Service Unavailable</h1></body></html>")
THROTTLED = json_reply({"errorCode": "TooManyRequests", "errorMessage": "too many requests"}, 429)
_BEFORE = {"system error": SERVER_ERROR, "unavailable": UNAVAILABLE, "throttle": THROTTLED}
"""The call is not accepted."""
_AFTER = {"system error accepted": SERVER_ERROR, "unavailable accepted": UNAVAILABLE}
"""The call is accepted, and its answer is replaced."""


class SolapiFaults(FaultInjector):
    """The injected faults; those of connections are the same as for any other server."""

    def add(self, fault: Fault) -> Fault:
        assert fault.kind in (*faults.KINDS, *_BEFORE, *_AFTER), f"unknown kind {fault.kind!r}"
        self.faults.append(fault)
        return fault

    async def apply(self, request: Request, answer: Handler) -> Reply:
        for fault in self.faults:
            if not fault.applies_to(request):
                continue
            if fault.kind in _BEFORE:
                return _BEFORE[fault.kind]
            if fault.kind in _AFTER:
                await answer(request)
                return _AFTER[fault.kind]
            return await faults.apply_fault(fault, request, answer)
        return await answer(request)
