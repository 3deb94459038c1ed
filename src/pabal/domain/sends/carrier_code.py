"""Carriers' own result codes, as they are stored and shown to people."""

MAX_CODE_CHARACTERS = 40
"""Longest code that is stored; longer ones are cut off."""


def tidy_code(code: str | None) -> str | None:
    """Return a carrier's code without characters that cannot be shown; None if nothing is left."""
    if not code:
        return None
    kept = code if code.isprintable() else "".join(each for each in code if each.isprintable())
    return kept.strip()[:MAX_CODE_CHARACTERS].rstrip() or None
