"""Converts templates to Solapi's format and back, and finds the ids that Solapi assigns them.

Solapi has no field for a code of ours, and an approved template cannot be changed. So a template of ours has its
code in its name, and every change of an approved one is a new template with a version: `[welcome] 환영`, then
`[welcome/2] 환영`. Of two with the same name, which Solapi allows, the newer one counts. A template that was made
in Solapi's console has no code; its id is its code here.
"""

import re
from collections.abc import AsyncIterator, Sequence
from typing import Any, NamedTuple

import msgspec

from pabal.carriers.provider import RemoteTemplate
from pabal.carriers.relay import kakao as shared
from pabal.carriers.relay.kakao import (
    EMPHASIS_TYPES,
    MESSAGE_TYPES,
    OTHER_CATEGORY,
    unsupported,
)
from pabal.carriers.solapi.client import NOT_FOUND, SolapiClient, SolapiError
from pabal.carriers.solapi.template_parts import (
    are_supported,
    button_from_remote,
    has_foreign_thumbnail,
    parts_from_remote,
    parts_to_remote,
    template_buttons,
    without_thumbnail,
)
from pabal.domain.kakao.template import TemplateContent, TemplateStatus

TEMPLATES_PATH = "/kakao/v2/templates"
TEMPLATE_TTL_S = 600.0
"""How long a template's id is used; a change that was approved meanwhile is then found."""
PAGE_SIZE = 100
APPROVED = "APPROVED"
MAX_NAME_CHARACTERS = 150
_ID = re.compile(r"KA01TP[0-9A-Za-z]{26}")
_NAME = re.compile(r"\[(?P<code>[^\]/\s]{1,32})(?:/(?P<version>[0-9]{1,6}))?\] ?(?P<name>.*)", re.DOTALL)


class NoSuchTemplate(Exception):
    """Solapi has no approved template of this code."""


class TemplateRow(msgspec.Struct):
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
    dateCreated: str | None = None


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
    async for page in client.pages(TEMPLATES_PATH, TemplatePage, query, lambda: timeout_s):
        for row in page.templateList:
            if row.channelId in (None, sender_key):
                yield row


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
    return newest_first(found)


def newest_first(versions: "Versions") -> "list[tuple[TemplateName, TemplateRow]]":
    """Return versions of a template in order; those with one name by when they were created."""
    return sorted(versions, key=lambda each: (each[0].version, each[1].dateCreated or ""), reverse=True)


class SendableTemplate(NamedTuple):
    """An approved template; `content` is None if we cannot read all of it."""

    template_id: str
    content: TemplateContent | None


async def find_sendable(client: SolapiClient, sender_key: str, code: str, timeout_s: float) -> SendableTemplate:
    """Return the newest approved version of a template.

    Raises NoSuchTemplate, and what SolapiClient.request raises.
    """
    for name, row in await _find_rows(client, sender_key, code, timeout_s):
        if row.status == APPROVED:
            found = from_remote(name, row)
            return SendableTemplate(row.templateId, None if found.suspension else found.content)
    raise NoSuchTemplate


async def _find_rows(client: SolapiClient, sender_key: str, code: str, timeout_s: float) -> "Versions":
    if not is_template_id(code):
        return await find_versions(client, sender_key, code, timeout_s)
    try:
        row = await client.request("GET", f"{TEMPLATES_PATH}/{code}", TemplateRow, timeout_s=timeout_s)
    except SolapiError as error:
        if error.status == NOT_FOUND:
            raise NoSuchTemplate from None
        raise
    return [(name_of(row), row)]


def is_template_id(code: str) -> bool:
    return _ID.fullmatch(code) is not None


PENDING, INSPECTING, REJECTED = "PENDING", "INSPECTING", "REJECTED"
_STATUSES = {
    PENDING: TemplateStatus.REGISTERED,
    INSPECTING: TemplateStatus.INSPECTING,
    APPROVED: TemplateStatus.APPROVED,
    REJECTED: TemplateStatus.REJECTED,
}

Versions = Sequence[tuple[TemplateName, TemplateRow]]
"""The versions of a template, the newest first."""


def check(content: TemplateContent) -> None:
    """Refuse what this carrier does not register.

    Raises Refused(INVALID_PARAMETER).
    """
    found = {
        "imageLink": content.image_link is not None,
        "representLink": content.parts.link is not None,
        "buttons": not are_supported(content.buttons),
        "itemHighlight.imageUrl": has_foreign_thumbnail(content.parts),
    }
    for field, is_given in found.items():
        if is_given:
            raise unsupported(field)


def to_remote(content: TemplateContent, name: TemplateName, image_id: str | None) -> dict[str, Any]:
    """Return a template in Solapi's format; fields that its type does not have are left out."""
    remote: dict[str, Any] = {
        "name": str(name),
        "content": content.content,
        "categoryCode": content.category,
        "messageType": MESSAGE_TYPES[content.message_type],
        "emphasizeType": EMPHASIS_TYPES[content.emphasis_type],
        "securityFlag": content.is_security_template,
        "buttons": template_buttons(content.buttons),
        **parts_to_remote(content.parts),
    }
    if content.message_type in ("extraInfo", "mixed"):
        remote["extra"] = content.more_info or ""
    if content.emphasis_type == "text":
        remote["emphasizeTitle"] = content.emphasis_title or ""
        # Its clients for Node and Kotlin spell this field in two ways.
        remote["emphasizeSubtitle"] = remote["emphasizeSubTitle"] = content.emphasis_assist_phrase or ""
    if image_id is not None:
        remote["imageId"] = image_id
    return remote


def is_same(ours: TemplateContent, theirs: TemplateContent) -> bool:
    """Return whether both are the same in Solapi's format; images cannot be compared, and names are shortened.

    A thumbnail that was uploaded elsewhere cannot be compared either.
    """
    if ours.parts.link or not are_supported(ours.buttons):
        return False
    if has_foreign_thumbnail(ours.parts):
        ours, theirs = (each._replace(parts=without_thumbnail(each.parts)) for each in (ours, theirs))
    unnamed = TemplateName("", 1, "")
    return shared.is_same(ours, theirs, lambda content: to_remote(content, unnamed, None))


def current_of(versions: Versions) -> tuple[TemplateName, TemplateRow] | None:
    """Return the version that is in use: the newest approved one, or the newest if none is."""
    approved = (each for each in versions if each[1].status == APPROVED)
    return next(approved, versions[0] if versions else None)


def change_of(versions: Versions) -> tuple[TemplateName, TemplateRow] | None:
    """Return the newest version if it is newer than the one in use."""
    current = current_of(versions)
    return None if current is None or versions[0][1] is current[1] else versions[0]


def from_remote(name: TemplateName, row: TemplateRow) -> RemoteTemplate:
    """Return a template in our format, with the reason why it cannot be used, if there is one."""
    content = TemplateContent(
        name=name.name,
        content=row.content or "",
        category=row.categoryCode or OTHER_CATEGORY,
        emphasis_title=row.emphasizeTitle or None,
        emphasis_assist_phrase=row.emphasizeSubtitle or None,
        more_info=row.extra or None,
        image_name=row.imageId or None,
        is_security_template=bool(row.securityFlag),
    )
    return shared.make_remote_template(
        name.code,
        content,
        _STATUSES.get(row.status),
        row.messageType,
        row.emphasizeType,
        parts_from_remote(row.header, row.highlight, row.item, row.quickReplies or ()),
        [button_from_remote(one) for one in row.buttons or []],
        _comment(row),
    )


def _comment(row: TemplateRow) -> str:
    """Return why a template was rejected: the newest comment of a reviewer, else the newest comment."""
    comments = [one for one in row.comments or [] if one.get("content")]
    reviews = [one for one in comments if one.get("isAdmin")]
    return next((str(one["content"]) for one in reversed(reviews or comments)), "")
