"""The error that ends a call of another relay's endpoint."""


class CallRefused(Exception):
    """An error answer: an HTTP status, and the code and message of the relay."""

    def __init__(self, status: int, code: str, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(f"{status} {code}")
        self.status = status
        self.code = code
        self.message = message
        self.retry_after_s = retry_after_s
