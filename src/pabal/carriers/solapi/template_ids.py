"""The ids that our templates have at Solapi, which assigns them itself.

Solapi has no field for a code of ours, and names are unique there. So a template of ours has its code in its name,
and every change of an approved one is a new template with a version: `[welcome] 환영`, then `[welcome/2] 환영`. A
template that was made in Solapi's console has no code; its id is its code here.
"""

import re
from collections.abc import AsyncIterator
from typing import Any, NamedTuple

import msgspec

from pabal.carriers.solapi.client import SolapiClient

TEMPLATES_PATH = "/kakao/v2/templates"
TEMPLATE_TTL_S = 600.0
"""How long a template's id is used; a change that was approved meanwhile is then found."""
PAGE_SIZE = 100
MAX_PAGES = 1000
APPROVED = "APPROVED"
MAX_NAME_CHARACTERS = 150
_ID = re.compile(r"KA01TP[0-9A-Za-z]{26}")
_NAME = re.compile(r"\[(?P<code>[^\]/\s]{1,32})(?:/(?P<version>[0-9]{1,6}))?\] ?(?P<name>.*)", re.DOTALL)


class NoSuchTemplate(Exception):
    """Solapi has no approved template of this code."""


class TemplateRow(msgspec.Struct):
    """A template as Solapi has it."""

    templateId: str
    name: str
    status: str
    channelId: str | None = None
    content: str | None = None
    categoryCode: str | None = None
    messageType: str | None = None
    emphasizeType: str | None = None
    extra: str | None = None
    emphasizeTitle: str | None = None
    emphasizeSubtitle: str | None = None
    header: str | None = None
    highlight: dict[str, Any] | None = None
    item: dict[str, Any] | None = None
    securityFlag: bool | None = None
    imageId: str | None = None
    buttons: list[dict[str, Any]] | None = None
    quickReplies: list[dict[str, Any]] | None = None
    comments: list[dict[str, Any]] | None = None
    isHidden: bool | None = None


class TemplatePage(msgspec.Struct):
    """A page of a list of templates."""

    templateList: list[TemplateRow]
    nextKey: str | None = None


class TemplateName(NamedTuple):
    """The parts of a template's name at Solapi."""

    code: str
    version: int
    name: str

    def __str__(self) -> str:
        version = f"/{self.version}" if self.version > 1 else ""
        return f"[{self.code}{version}] {self.name}"[:MAX_NAME_CHARACTERS]


def name_of(row: TemplateRow) -> TemplateName:
    """Return the parts of a template's name; one that was not named by us has its id as code."""
    found = _NAME.fullmatch(row.name)
    if found is None:
        return TemplateName(row.templateId, 1, row.name)
    return TemplateName(found["code"], int(found["version"] or 1), found["name"])


async def list_templates(
    client: SolapiClient, sender_key: str, timeout_s: float, code: str = ""
) -> AsyncIterator[TemplateRow]:
    """Yield the templates of a channel, or those whose name may have this code.

    Raises what SolapiClient.request raises.
    """
    query: dict[str, str | int] = {"channelId": sender_key, "limit": PAGE_SIZE}
    if code:
        query["name[like]"] = f"[{code}"
    for _ in range(MAX_PAGES):
        page = await client.request("GET", TEMPLATES_PATH, TemplatePage, timeout_s=timeout_s, query=query)
        for row in page.templateList:
            if row.channelId in (None, sender_key):
                yield row
        if not page.nextKey or page.nextKey == query.get("startKey"):
            return
        query["startKey"] = page.nextKey


async def find_versions(
    client: SolapiClient, sender_key: str, code: str, timeout_s: float
) -> list[tuple[TemplateName, TemplateRow]]:
    """Return all versions of a template, the newest first.

    Raises what SolapiClient.request raises.
    """
    found = [
        (name, row)
        async for row in list_templates(client, sender_key, timeout_s, code)
        if (name := name_of(row)).code == code
    ]
    return sorted(found, key=lambda each: each[0].version, reverse=True)


async def find_template_id(client: SolapiClient, sender_key: str, code: str, timeout_s: float) -> str:
    """Return the id of the newest approved version of a template.

    Raises NoSuchTemplate, and what SolapiClient.request raises.
    """
    if is_template_id(code):
        return code
    for _, row in await find_versions(client, sender_key, code, timeout_s):
        if row.status == APPROVED:
            return row.templateId
    raise NoSuchTemplate


def is_template_id(code: str) -> bool:
    """Return whether a code is an id of Solapi."""
    return _ID.fullmatch(code) is not None
