"""Quotas of a relay that are used up, and other notices for operators while its carrier works."""

from collections import Counter

from pabal.carriers.base import NotSent
from pabal.world import World

PROBE_INTERVAL_S = 600.0
"""How often something is submitted although a quota was used up: it may have been raised."""
PROBE_TIMEOUT_S = 60.0
"""How long everything else waits for the answer to that."""
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


class Quotas:
    """The quotas that are used up, by name; a name may count for several holders, such as profiles."""

    def __init__(self, world: World, notices: Notices) -> None:
        self._world = world
        self._notices = notices
        self._retry_at: dict[tuple[str, str], float] = {}

    @property
    def exhausted(self) -> dict[str, int]:
        """How many holders have used up each quota."""
        shown = self._notices.shown
        return Counter(name for name, holder in self._retry_at if _subject(name, holder) in shown)

    def exhaust(self, name: str, text: str, resets_after_s: float, holder: str = "") -> NotSent:
        """Record that a quota is used up; return the verdict on what it concerns. `text` is for the operator."""
        wait_s = max(1.0, min(resets_after_s, PROBE_INTERVAL_S))
        self._retry_at[name, holder] = self._world.monotonic() + wait_s
        self._notices.set(_subject(name, holder), text, wait_s + PROBE_TIMEOUT_S)
        return NotSent(retry_after_s=wait_s)

    def check(self, name: str, holder: str = "") -> NotSent | None:
        """Return the verdict on what a used up quota concerns; None if it may be submitted.

        When it is time to try again, one caller gets None, and the others wait for what it finds.
        """
        retry_at = self._retry_at.get((name, holder))
        if retry_at is None:
            return None
        now = self._world.monotonic()
        if now < retry_at:
            return NotSent(retry_after_s=retry_at - now)
        self._retry_at[name, holder] = now + PROBE_TIMEOUT_S
        return None

    def restore(self, name: str, holder: str = "") -> None:
        """Record that a quota is not used up."""
        if self._retry_at.pop((name, holder), None) is not None:
            self._notices.clear(_subject(name, holder))


def _subject(name: str, holder: str) -> str:
    return f"quota {name} {holder}"
