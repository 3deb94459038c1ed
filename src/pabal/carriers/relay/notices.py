"""What an operator should know about a relay while its carrier works."""

from pabal.world import World

NOTICE_S = 300.0
"""How long a notice is shown after the last time it was true, unless something else ends it."""


class Notices:
    """Notices by subject; each ends when it is cleared, or after a time."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._notices: dict[str, tuple[str, float]] = {}

    def set(self, subject: str, text: str, for_s: float = NOTICE_S) -> None:
        """Show a notice for so long."""
        self._notices[subject] = text, self._world.monotonic() + for_s

    def clear(self, subject: str) -> None:
        """End a notice."""
        self._notices.pop(subject, None)

    @property
    def shown(self) -> dict[str, str]:
        """The notices of now, by subject."""
        now = self._world.monotonic()
        self._notices = {subject: each for subject, each in self._notices.items() if each[1] > now}
        return {subject: text for subject, (text, _) in self._notices.items()}
