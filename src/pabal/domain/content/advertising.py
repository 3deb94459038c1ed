"""Advertising texts: the marks that Korean law requires, and how advertisements are recognized."""

import re
from collections.abc import Iterable, Sequence

from pabal.domain.content import text, variables

AD_LABELS = (text.AD_LABEL, "[광고]")
"""What a text begins with that its sender has marked as an advertisement."""
LABEL_CHARACTERS = 4
OPT_OUT_WORD = "무료거부"
"""Word before the number for opting out, which a caller of the number does not pay for."""
MAX_START_PIECES = 8
"""The label of a text must be within this many literals and variables at its start."""
_LABEL_STARTS = frozenset(label[:size] for label in AD_LABELS for size in range(LABEL_CHARACTERS))
"""What a label begins with; also the empty text."""
_OPT_OUT = re.compile(r"무료 {0,3}(?:수신 {0,3})?거부[^\w#]{0,5}[0-9](?:[- ]?[0-9]){7,11}")


def has_opt_out(content: str) -> bool:
    """Return whether a text names a number for opting out, and not by a variable."""
    return any(_OPT_OUT.search(literal) for literal in variables.split(content)[::2])


def add_marks(content: str, opt_out_number: str) -> str:
    """Return an advertisement with the label in front and the number for opting out in its last line."""
    labelled = text.add_ad_label(content)
    return labelled if has_opt_out(labelled) else f"{labelled}\n{OPT_OUT_WORD} {opt_out_number}"


def has_marks(content: str) -> bool:
    """Return whether a text has the label and a number for opting out."""
    return content.startswith(text.AD_LABEL) and has_opt_out(content)


def begins_like_ad(content: str) -> bool:
    """Return whether a text begins with a label of advertisements."""
    return content.startswith(AD_LABELS)


def looks_like_ad(template: str | None, names: Sequence[str], values: Iterable[Sequence[str]]) -> bool:
    """Return whether a text begins with a label for any receiver; `values` are each receiver's values."""
    if not template:
        return False
    pieces = variables.split(template)
    if pieces[0] not in _LABEL_STARTS:
        return begins_like_ad(pieces[0])
    pieces = pieces[:MAX_START_PIECES]
    places = [names.index(piece) if number % 2 else None for number, piece in enumerate(pieces)]
    return any(begins_like_ad(_fill_start(pieces, places, each)) for each in values)


def _fill_start(pieces: Sequence[str], places: Sequence[int | None], values: Sequence[str]) -> str:
    """Return as much of the start of a text as shows whether it begins with a label."""
    start = ""
    for place, piece in zip(places, pieces, strict=True):
        start += piece if place is None else values[place][:LABEL_CHARACTERS]
        if start not in _LABEL_STARTS:
            break
    return start
