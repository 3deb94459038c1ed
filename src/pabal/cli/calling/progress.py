"""A progress bar on the terminal."""

import sys

from pabal.world import RealWorld

WORLD = RealWorld()
BAR_CHARACTERS = 30
REDRAW_INTERVAL_S = 0.1


class ProgressBar:
    """Draws how much is done to standard error, if that is a terminal."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._began_at = WORLD.monotonic()
        self._drawn_at = float("-inf")
        self._first: int | None = None
        self._is_shown = sys.stderr.isatty()

    def show(self, done: int) -> None:
        """Draw so much as done."""
        now = WORLD.monotonic()
        if self._first is None:
            self._first = done
        is_due = now - self._drawn_at >= REDRAW_INTERVAL_S or done >= self._total
        if self._is_shown and is_due:
            self._drawn_at = now
            sys.stderr.write(f"\r{format_bar(done, self._total, done - self._first, now - self._began_at)}\x1b[K")
            sys.stderr.flush()

    def end(self) -> None:
        """Leave the line."""
        if self._is_shown and self._first is not None:
            sys.stderr.write("\n")


def format_bar(done: int, total: int, lately: int, seconds: float) -> str:
    """Return the bar as text: how much of the total is done, and how fast."""
    share = done / total if total else 1.0
    filled = int(share * BAR_CHARACTERS)
    rate = f"  {lately / seconds:,.0f}/s" if lately and seconds > 0 else ""
    return f"[{'#' * filled}{'.' * (BAR_CHARACTERS - filled)}] {share:4.0%}  {done:,}/{total:,}{rate}"
