"""Slots: the parts of the queue that this process delivers."""

HOUSEKEEPING_SLOT = 0
"""Its holder does what one process does for all workers."""
RESULT_POLLING_SLOT = 0
"""Its holder polls carriers' results for all workers."""


class Slots:
    """The slots that this process holds: all of them, unless it shares them with other workers."""

    def __init__(self, total: int = 1, *, worker: str = "") -> None:
        self.total = total
        self.held: tuple[int, ...] = () if worker else tuple(range(total))
        self.worker = worker
        """The name of this process among the workers; empty if it is the only one."""
        self.worker_id: bytes | None = None

    @property
    def are_shared(self) -> bool:
        """Whether other processes may deliver as well."""
        return bool(self.worker)
