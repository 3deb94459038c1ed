"""Every word that pages say, in one table: Korean and English side by side."""

from pabal.console.words import audit, history, phone, shared, sign_in, templates
from pabal.domain.codes import Words

PARTS = (shared, sign_in, phone, history, templates, audit)
WORDS: dict[str, Words] = {key: words for part in PARTS for key, words in part.WORDS.items()}
assert len(WORDS) == sum(len(part.WORDS) for part in PARTS), "two parts say different things under one key"


def say(locale: str, key: str, **values: object) -> str:
    """Return the words of a key in a language, with values put in; pages escape all of it."""
    return WORDS[key].in_locale(locale).format(**values)
