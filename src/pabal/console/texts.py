"""Every word that pages say, in one table: Korean and English side by side."""

from pabal.console.history import history_texts
from pabal.console.manage import numbers_texts, profiles_texts, templates_texts
from pabal.console.operate import audit_texts, operate_texts
from pabal.console.overview import overview_texts
from pabal.console.phone import phone_texts
from pabal.console.requests import requests_texts
from pabal.console.send import send_texts
from pabal.console.shell import shell_texts
from pabal.console.sign_in import sign_in_texts
from pabal.console.upload import upload_texts
from pabal.domain.codes import Text

PARTS = (
    shell_texts,
    sign_in_texts,
    overview_texts,
    send_texts,
    upload_texts,
    requests_texts,
    phone_texts,
    history_texts,
    templates_texts,
    profiles_texts,
    numbers_texts,
    operate_texts,
    audit_texts,
)
WORDS: dict[str, Text] = {key: words for part in PARTS for key, words in part.WORDS.items()}
assert len(WORDS) == sum(len(part.WORDS) for part in PARTS), "two parts say different things under one key"


def say(locale: str, key: str, **values: object) -> str:
    """Return the words of a key in a language, with values put in; pages escape all of it."""
    return WORDS[key].in_language(locale).format(**values)
