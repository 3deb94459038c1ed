"""Answers a form once: a browser that lost the answer posts the form again, and gets the first answer."""

import asyncio
import hashlib
from typing import NamedTuple

from starlette.responses import Response

from pabal.console.shell.page import Page
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Refused
from pabal.domain.base.dates import MINUTE, Instant
from pabal.service.access.users import form_idempotency

ANSWER_LIFETIME_MS = 10 * MINUTE
"""How long answers are kept for those who have lost them; they may contain secrets, so they are never stored."""
MAX_ANSWERS = 500
MAX_ANSWER_BYTES = 256 * 1024
MAX_ANSWERS_BYTES = 16 * 2**20
REFUSED_STATUS = 400
FAILED_STATUS = 500


class _Answer(NamedTuple):
    """The answer to a form that was handled."""

    response: Response
    created_at: Instant


class RepeatedForms:
    """Remembers the forms that were handled.

    That a signed-in user's form was handled is stored, so every process knows it. The answers themselves are in the
    memory of the process that has handled it: another one can only say that the form was received.
    """

    def __init__(self) -> None:
        self._running: dict[str, asyncio.Event] = {}
        self._answers: dict[str, _Answer] = {}
        self._bytes = 0

    async def answer(self, page: Page, request: PageRequest) -> Response:
        """Return the answer to a form; one without an id, or that may be posted twice, is just handled."""
        if not request.form_id or page.is_repeatable or page.is_preview:
            return await page.answer(request)
        key = _key_of(request)
        if running := self._running.get(key):
            await running.wait()
        if known := self._find(key, request.now):
            return known
        done = self._running[key] = asyncio.Event()
        try:
            return await self._handle(key, page, request)
        finally:
            done.set()
            if self._running.get(key) is done:
                del self._running[key]

    async def _handle(self, key: str, page: Page, request: PageRequest) -> Response:
        form = bytes.fromhex(key)
        if request.session is None:  # nobody has anything stored without signing in
            response = await page.answer(request)
        elif await form_idempotency.claim(request.context, form):
            try:
                response = await page.answer(request)
            except Refused:
                await form_idempotency.release(request.context, form)
                raise
            if REFUSED_STATUS <= response.status_code < FAILED_STATUS:
                await form_idempotency.release(request.context, form)
        else:
            return request.render("shell/repeated.html", 409)
        if response.status_code < REFUSED_STATUS:
            self._keep(key, response, request.now)
        return response

    def _find(self, key: str, now: Instant) -> Response | None:
        found = self._answers.get(key)
        return found.response if found and now < found.created_at + ANSWER_LIFETIME_MS else None

    def _keep(self, key: str, response: Response, now: Instant) -> None:
        """Keep an answer; the oldest ones give way."""
        size = _size_of(response)
        if size is None or size > MAX_ANSWER_BYTES:
            return
        if before := self._answers.pop(key, None):
            self._bytes -= _size_of(before.response) or 0
        self._answers[key] = _Answer(response, now)
        self._bytes += size
        while self._answers:
            oldest, answer = next(iter(self._answers.items()))
            is_old = now >= answer.created_at + ANSWER_LIFETIME_MS
            if not is_old and len(self._answers) <= MAX_ANSWERS and self._bytes <= MAX_ANSWERS_BYTES:
                break
            del self._answers[oldest]
            self._bytes -= _size_of(answer.response) or 0


def _key_of(request: PageRequest) -> str:
    """Return the key of a form: of its user, or of the browser before the sign-in."""
    owner = f"user {request.user.id}" if request.session else request.csrf_secret
    return hashlib.sha256(f"form\n{owner}\n{request.http.scope['path']}\n{request.form_id}".encode()).hexdigest()


def _size_of(response: Response) -> int | None:
    """Return the size of an answer; None: it comes in parts."""
    body = getattr(response, "body", None)
    return len(body) if isinstance(body, bytes) else None
