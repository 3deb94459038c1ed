"""Slots: the parts of the queue that this process delivers."""

from collections.abc import Sequence

HOUSEKEEPING_SLOT = 0
"""Its holder does what one process does for all workers."""
RESULT_POLLING_SLOT = 0
"""Its holder polls carriers' results for all workers."""
NOBODY = b""
"""The id of no worker."""


class Slots:
    """The slots that this process holds: all of them, unless it shares them with other workers."""

    def __init__(self, total: int = 1, *, worker: str = "", numbers: Sequence[int] = ()) -> None:
        self.numbers = tuple(numbers or range(total))
        """The numbers of all slots of the store, in order."""
        self.held: tuple[int, ...] = () if worker else self.numbers
        self.worker = worker
        """The name of this process among the workers; empty if it is the only one."""
        self.worker_id: bytes | None = None

    @property
    def total(self) -> int:
        """How many slots the store has."""
        return len(self.numbers)

    @property
    def are_shared(self) -> bool:
        """Whether other processes may deliver as well."""
        return bool(self.worker)

    @property
    def holder(self) -> bytes | None:
        """Who must hold a slot when a transaction changes its jobs; None: the only process, which has all slots.

        A worker that was evicted, or paused until others took its slots, changes nothing that way.
        """
        return (self.worker_id or NOBODY) if self.are_shared else None
