"""The HTTP protocol of the server, so that even what is not HTTP gets an answer in the envelope."""

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from pabal.domain.codes import Code, Problem, Words
from pabal.web import envelope
from pabal.web.speech import DEFAULT
from pabal.world import RealWorld

_UNREADABLE = Words("HTTP 요청이 아닙니다.", "It is not an HTTP request.")


class Protocol(HttpToolsProtocol):
    """Speaks HTTP, and says no to anything else."""

    def send_400_response(self, msg: str) -> None:
        """Answer a request that cannot be read, and hang up."""
        problem = Problem(Code.INVALID_PARAMETER, detail=_UNREADABLE)
        body = envelope.refusal([problem], RealWorld().now(), DEFAULT)
        head = (
            b"HTTP/1.1 400 Bad Request\r\ncontent-type: %b\r\ncontent-length: %d\r\nconnection: close\r\n\r\n"
        ) % (envelope.CONTENT_TYPE, len(body))
        self.transport.write(head + body)
        self.transport.close()
