"""The table of endpoints, which routing, the OpenAPI document, the reference page and the tests use."""

import difflib
from collections.abc import Iterable

from pabal.domain.base.codes import Text
from pabal.web.endpoints import history, lookups, profiles, recipients, sending, webhooks

ENDPOINTS = (
    *profiles.PROFILE_ENDPOINTS,
    *sending.ENDPOINTS,
    *history.ENDPOINTS,
    *lookups.ENDPOINTS,
    *profiles.TEMPLATE_ENDPOINTS,
    *recipients.OPT_OUT_ENDPOINTS,
    *webhooks.ENDPOINTS,
    *recipients.PRIVACY_ENDPOINTS,
    *lookups.PHONE_ENDPOINTS,
)

ENDPOINT_BY_PATH = {endpoint.path: endpoint for endpoint in ENDPOINTS}


MAX_COMPARED_CHARACTERS = 100
"""For a longer path no similar endpoint is looked for."""


def suggest_path(path: str, known: Iterable[str]) -> Text | None:
    """Return the known path that resembles one that does not exist, or whose last word it ends with."""
    if len(path) > MAX_COMPARED_CHARACTERS:
        return None
    paths, words = {each.lower(): each for each in known}, {}
    for each in paths:
        word = _last_word(each)
        words[word] = "" if word in words else paths[each]  # several endpoints are called `list`
    near = difflib.get_close_matches(path.lower(), paths, n=1)
    found = paths[near[0]] if near else words.get(_last_word(path.lower()))
    return Text(f"혹시 {found}인가요?", f"Did you mean {found}?") if found else None


def _last_word(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2].partition(".")[0]
