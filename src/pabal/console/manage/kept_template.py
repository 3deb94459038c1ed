"""Keeps what is typed into the form of a template on the server, and offers it again."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from pabal.console.manage import template_form
from pabal.console.shell.form_fields import tab_id
from pabal.console.shell.page_request import PageRequest
from pabal.domain.kakao.template import Template
from pabal.service.sending.drafts import drafts as draft_service
from pabal.service.sending.drafts.drafts import DraftKey

FIELD = "draft"
NEW = "template.new"
_FORM_NAME = re.compile(r"template\.(new|[0-9]{1,18})", re.ASCII)
_OWN_WORDS = ("templateCode", "name", "content", "emphasisTitle", "moreInfo", "header")
"""Fields that begin empty, and whose content somebody has thought about."""


class KeptTemplate(NamedTuple):
    """The name of the form, and when what it shows was typed; empty: it shows nothing that was typed before."""

    form: str
    loaded_from: str = ""


def form_name(template: Template | None) -> str:
    """Return the form of a template, or of a new one."""
    return f"template.{template.id}" if template else NEW


async def keep(request: PageRequest, fields: Mapping[str, str]) -> None:
    """Keep what was typed, unless it is as good as empty."""
    form = request.field(FIELD)
    if not _FORM_NAME.fullmatch(form):
        return
    if any(fields[name].strip() for name in _OWN_WORDS):
        await draft_service.save(request.context, _key(request, form), fields, tab_id(request))
    else:
        await draft_service.discard(request.context, _key(request, form))


async def load(request: PageRequest, form: str) -> tuple[dict[str, str] | None, KeptTemplate]:
    """Return what was typed before, None if nothing, and what the page says of it."""
    found = await draft_service.load(request.context, _key(request, form))
    if found is None:
        return None, KeptTemplate(form)
    return template_form.read_fields(found.fields), KeptTemplate(
        form, request.locale.format_timestamp(found.changed_at)[:19]
    )


async def discard(request: PageRequest, form: str) -> None:
    """Delete what was typed: it is stored now, or its author wants none of it."""
    if _FORM_NAME.fullmatch(form):
        await draft_service.end(request.context, _key(request, form), tab_id(request))


def _key(request: PageRequest, form: str) -> DraftKey:
    return DraftKey(request.user.id, request.account_id, form)
