"""How many bytes of request bodies may be held at once, for each caller and in all."""

from collections.abc import Hashable
from types import TracebackType

from pabal.domain.base.codes import Code, Refused, Text

RETRY_AFTER_S = 1.0
_CALLER_IS_FULL = Text(
    "이 호출자가 동시에 보내는 요청 본문이 너무 큽니다. 아무것도 접수하지 않았습니다.",
    "You are sending too many bytes at once; nothing was accepted.",
)
_SERVICE_IS_FULL = Text(
    "동시에 받고 있는 요청 본문이 너무 많아 이 요청은 접수하지 않았습니다.",
    "The service is receiving too many bytes at once; this request was not accepted.",
)


class BodyBudget:
    """The bytes that requests hold from their head to their answer.

    A caller that holds nothing may always hold one body, whatever its size: bodies have a limit of their own.
    """

    def __init__(self, max_bytes: int, max_bytes_per_caller: int) -> None:
        self.max_bytes = max_bytes
        self.held_bytes = 0
        self._max_per_caller = max_bytes_per_caller
        self._held_by_caller: dict[Hashable, int] = {}

    def hold(self, caller: Hashable, size: int) -> "HeldBody":
        """Return a reservation of `size` bytes, to be used in a `with` statement.

        Raises Refused: RATE_LIMITED if the caller holds too many bytes, SERVICE_UNAVAILABLE if all do.
        """
        held = HeldBody(self, caller)
        held.grow(size)
        return held

    def take(self, caller: Hashable, size: int, own: int = 0) -> None:
        """Count bytes of a caller, for a body of which `own` are counted already; raises Refused as `hold` does."""
        by_caller = self._held_by_caller.get(caller, 0)
        if by_caller > own and by_caller + size > self._max_per_caller:
            raise Refused(Code.RATE_LIMITED, detail=_CALLER_IS_FULL, retry_after_s=RETRY_AFTER_S)
        if self.held_bytes > by_caller and self.held_bytes + size > self.max_bytes:
            raise Refused(Code.SERVICE_UNAVAILABLE, detail=_SERVICE_IS_FULL, retry_after_s=RETRY_AFTER_S)
        self._held_by_caller[caller] = by_caller + size
        self.held_bytes += size

    def give_back(self, caller: Hashable, size: int) -> None:
        """Stop counting bytes of a caller."""
        self.held_bytes -= size
        left = self._held_by_caller[caller] - size
        if left:
            self._held_by_caller[caller] = left
        else:
            del self._held_by_caller[caller]


class HeldBody:
    """The bytes that one request holds; the end of the `with` block gives them back."""

    __slots__ = ("_budget", "_caller", "size")

    def __init__(self, budget: BodyBudget, caller: Hashable) -> None:
        self._budget = budget
        self._caller = caller
        self.size = 0

    def grow(self, size: int) -> None:
        """Hold at least `size` bytes from now on; raises Refused as `BodyBudget.hold` does."""
        if size > self.size:
            self._budget.take(self._caller, size - self.size, self.size)
            self.size = size

    def __enter__(self) -> "HeldBody":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.size:
            self._budget.give_back(self._caller, self.size)
            self.size = 0
