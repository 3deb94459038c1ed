"""Which slots of the queue this process delivers."""


class Slots:
    """All the slots there are, in the only process there is; else those that it holds among other workers."""

    def __init__(self, total: int = 1, *, worker: str = "") -> None:
        self.total = total
        self.held: tuple[int, ...] = () if worker else tuple(range(total))
        self.worker = worker
        """What this process is called among the workers; empty where there are no others."""
        self.worker_id: bytes | None = None

    @property
    def are_shared(self) -> bool:
        """Whether other processes may deliver as well."""
        return bool(self.worker)
