"""Every word that pages say, in one table: Korean and English side by side."""

from pabal.console.words import (
    audit,
    follow,
    history,
    numbers,
    operate,
    overview,
    phone,
    profiles,
    send,
    shared,
    sign_in,
    templates,
    upload,
)
from pabal.domain.codes import Words

PARTS = (
    shared,
    sign_in,
    overview,
    send,
    upload,
    follow,
    phone,
    history,
    templates,
    profiles,
    numbers,
    operate,
    audit,
)
WORDS: dict[str, Words] = {key: words for part in PARTS for key, words in part.WORDS.items()}
assert len(WORDS) == sum(len(part.WORDS) for part in PARTS), "two parts say different things under one key"


def say(locale: str, key: str, **values: object) -> str:
    """Return the words of a key in a language, with values put in; pages escape all of it."""
    return WORDS[key].in_locale(locale).format(**values)
