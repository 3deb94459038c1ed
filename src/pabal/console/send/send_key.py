"""Makes a send idempotent: the key of a form, and hashes of what was reviewed."""

import hashlib
import json
from string import hexdigits

from pabal.console.send.draft import MessageDraft
from pabal.console.send.kept_draft import KEY_TIME_DIGITS
from pabal.console.send.review import Review
from pabal.console.shell.page_request import PageRequest
from pabal.service.access.sign_in.sign_in import new_secret

KEY_CHARACTERS = 64


def draft_digest(draft: MessageDraft, own_number: str = "") -> str:
    """Return a hash of everything in the draft."""
    whole = [own_number, draft.kind.word, dict(draft.texts), dict(draft.checkboxes), draft.buttons]
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()


def text_digest(review: Review) -> str:
    """Return a hash of the reviewed text and the lines left out: a template may change before the send."""
    left_out = [each.line_number for each in review.invalid_rows]
    message = review.message
    whole = [message.content, message.subject, message.buttons, left_out, review.is_upgraded]
    return hashlib.sha256(json.dumps(whole).encode()).hexdigest()


def new_key(request: PageRequest) -> str:
    """Return a new idempotency key; it starts with the time."""
    return f"{request.now:0{KEY_TIME_DIGITS}x}{new_secret(request.context.world)[KEY_TIME_DIGITS:]}"


def is_key_current(request: PageRequest, key: str) -> bool:
    """Return whether a key is well-formed and young enough that its first use would still be stored."""
    made_at = key[:KEY_TIME_DIGITS]
    is_well_formed = len(key) == KEY_CHARACTERS and set(key) <= set(hexdigits)
    return is_well_formed and request.now < int(made_at, 16) + request.context.policy.idempotency_ms
