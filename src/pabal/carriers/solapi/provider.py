"""The provider of profiles and templates: Solapi's channels and Alimtalk templates."""

from collections import defaultdict
from collections.abc import Awaitable
from typing import Any, TypeVar

import msgspec

from pabal.carriers.provider import RelayProvider, RemoteCategories, RemoteProfile, RemoteTemplate
from pabal.carriers.relay.carrier import ImageNotSupported
from pabal.carriers.relay.http import ErrorAnswer
from pabal.carriers.relay.refusals import (
    ALREADY_REGISTERED,
    OTHER_IN_REVIEW,
    as_refusals,
    keys_not_accepted,
    path_segment,
    quote,
)
from pabal.carriers.solapi import templates
from pabal.carriers.solapi.calls import IMAGE_KIND_TEMPLATE
from pabal.carriers.solapi.client import (
    IMAGE_LIMITS,
    NOT_FOUND,
    SolapiClient,
    SolapiError,
    UploadAnswer,
    find_file_id,
    upload_image,
)
from pabal.carriers.solapi.codes import closes_account
from pabal.carriers.solapi.template_parts import FILE_ADDRESS
from pabal.carriers.solapi.templates import TEMPLATES_PATH, TemplateName, TemplateRow, Versions
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.content.image import Image
from pabal.domain.kakao.profile import Category, Registration
from pabal.domain.kakao.template import ReviewDecision, TemplateContent

T = TypeVar("T")

CHANNELS_PATH = "/kakao/v2/channels"
PAGE_SIZE = 100
CONFLICT = 409
_DELETABLE = (templates.PENDING, templates.REJECTED)


class _Channel(msgspec.Struct):
    channelId: str
    searchId: str


class _ChannelPage(msgspec.Struct):
    channelList: list[_Channel]
    nextKey: str | None = None


class _Category(msgspec.Struct):
    code: str
    name: str


class SolapiProvider(RelayProvider):
    """Stores profiles and templates at Solapi; a sender key is the id of a channel there."""

    def __init__(self, client: SolapiClient, timeout_s: float) -> None:
        self._client = client
        self._timeout_s = timeout_s

    async def register_profile(self, account_id: int, registration: Registration, token: str | None) -> None:
        await self._refuse_linked_channel(registration.channel_id)
        body = {"searchId": registration.channel_id, "phoneNumber": registration.cellphone}
        await self._call("POST", f"{CHANNELS_PATH}/token", Any, "channelId", body=body)

    async def verify_token(self, registration: Registration, token: str) -> str:
        await self._refuse_linked_channel(registration.channel_id)
        body = {
            "searchId": registration.channel_id,
            "phoneNumber": registration.cellphone,
            "categoryCode": registration.category,
            "token": token,
        }
        try:
            channel = await self._call("POST", CHANNELS_PATH, _Channel, "token", body=body)
        except Refused as refusal:
            if refusal.code is not Code.INVALID_PARAMETER:
                raise
            raise Refused(Code.TOKEN_INVALID, "token", refusal.problems[0].detail) from None
        return channel.channelId

    async def find_profile(self, channel_id: str) -> RemoteProfile | None:
        return next((each for each in await self.list_profiles() if each.channel_id == channel_id), None)

    async def get_profile(self, sender_key: str) -> RemoteProfile | None:
        channel = await self._find(f"{CHANNELS_PATH}/{_segment(sender_key)}", _Channel)
        return None if channel is None else _remote_profile(channel)

    async def list_profiles(self) -> list[RemoteProfile]:
        async def read() -> list[RemoteProfile]:
            pages = self._client.pages(CHANNELS_PATH, _ChannelPage, {"limit": PAGE_SIZE}, lambda: self._timeout_s)
            return [_remote_profile(each) async for page in pages for each in page.channelList]

        return await self._refusing(read(), "")

    async def delete_profile(self, sender_key: str) -> None:
        await self._find(f"{CHANNELS_PATH}/{_segment(sender_key)}", Any, "DELETE")

    async def upload_thumbnail(self, image: Image) -> str:
        answer = await self._upload(image)
        return answer.url if find_file_id(answer.url or "") and answer.url else f"{FILE_ADDRESS}{answer.fileId}"

    async def submit_template(
        self, sender_key: str, code: str, content: TemplateContent, image: Image | None
    ) -> ReviewDecision | None:
        templates.check(content)
        versions = await self._versions(sender_key, code)
        if not versions:
            await self._create(sender_key, TemplateName(code, 1, content.name), content, image)
            return None
        name, newest = versions[0]
        is_same = templates.is_same(content, templates.from_remote(name, newest).content)
        if newest.status == templates.INSPECTING:
            if not is_same:
                raise Refused(Code.INVALID_STATE, "templateCode", OTHER_IN_REVIEW)
        elif newest.status == templates.PENDING:
            body = await self._body(content, name._replace(name=content.name), image)
            path = f"{TEMPLATES_PATH}/{_segment(newest.templateId)}"
            await self._call("PUT", path, Any, "templateCode", body=body)
            await self._inspect(newest.templateId)
        elif newest.status == templates.APPROVED and is_same:
            return ReviewDecision(True)
        else:  # only a template that waits can be changed
            await self._create(sender_key, TemplateName(code, name.version + 1, content.name), content, image)
        return None

    async def list_templates(self, sender_key: str) -> list[RemoteTemplate]:
        rows = await self._templates(sender_key)
        by_code: dict[str, list[tuple[TemplateName, TemplateRow]]] = defaultdict(list)
        for row in rows:
            name = templates.name_of(row)
            by_code[name.code].append((name, row))
        found = []
        for versions in by_code.values():
            if (current := templates.current_of(templates.newest_first(versions))) is not None:
                found.append(templates.from_remote(*current))
        return found

    async def get_template(self, sender_key: str, code: str) -> RemoteTemplate | None:
        current = templates.current_of(await self._versions(sender_key, code))
        return None if current is None else templates.from_remote(*current)

    async def get_template_change(self, sender_key: str, code: str) -> RemoteTemplate | None:
        change = templates.change_of(await self._versions(sender_key, code))
        return None if change is None else templates.from_remote(*change)

    async def delete_template(self, sender_key: str, code: str) -> None:
        for _, row in await self._versions(sender_key, code):
            if row.status in _DELETABLE:
                await self._find(f"{TEMPLATES_PATH}/{_segment(row.templateId)}", Any, "DELETE")

    async def list_categories(self) -> RemoteCategories:
        profiles = await self._call("GET", f"{CHANNELS_PATH}/categories", list[_Category])
        of_templates = await self._call("GET", f"{TEMPLATES_PATH}/categories", list[_Category])
        return RemoteCategories(
            tuple(Category(each.code, each.name) for each in profiles),
            tuple(Category(each.code, each.name) for each in of_templates),
        )

    def is_same_content(self, ours: TemplateContent, theirs: TemplateContent) -> bool:
        return templates.is_same(ours, theirs)

    async def close(self) -> None:
        await self._client.close()

    async def _refuse_linked_channel(self, channel_id: str) -> None:
        """Refuse a channel that is linked at Solapi already: only an operator can assign it to an account."""
        if await self.find_profile(channel_id) is not None:
            raise Refused(Code.DUPLICATE, "channelId", ALREADY_REGISTERED)

    async def _versions(self, sender_key: str, code: str) -> Versions:
        versions = await self._refusing(
            templates.find_versions(self._client, sender_key, code, self._timeout_s), "templateCode"
        )
        if not templates.is_template_id(code):
            return versions
        row = await self._find(f"{TEMPLATES_PATH}/{_segment(code)}", TemplateRow)
        is_ours = row is not None and row.channelId in (None, sender_key)
        return versions if not is_ours or row is None else [*versions, (templates.name_of(row), row)]

    async def _templates(self, sender_key: str) -> list[TemplateRow]:
        async def read() -> list[TemplateRow]:
            return [row async for row in templates.list_templates(self._client, sender_key, self._timeout_s)]

        return await self._refusing(read(), "senderKey")

    async def _create(
        self, sender_key: str, name: TemplateName, content: TemplateContent, image: Image | None
    ) -> None:
        body = {"channelId": sender_key, **await self._body(content, name, image)}
        row = await self._call("POST", TEMPLATES_PATH, TemplateRow, "templateCode", body=body)
        if row.status == templates.PENDING:
            await self._inspect(row.templateId)

    async def _inspect(self, template_id: str) -> None:
        path = f"{TEMPLATES_PATH}/{_segment(template_id)}/inspection"
        await self._call("PUT", path, Any, "templateCode")

    async def _body(self, content: TemplateContent, name: TemplateName, image: Image | None) -> dict[str, Any]:
        image_id = None
        if image is not None and content.emphasis_type in ("image", "itemList"):
            image_id = (await self._upload(image)).fileId
        return templates.to_remote(content, name, image_id)

    async def _upload(self, image: Image) -> UploadAnswer:
        """Upload the picture of a template. Raises Refused(INVALID_IMAGE)."""
        try:
            return await self._refusing(
                upload_image(self._client, [image], IMAGE_KIND_TEMPLATE, image.file_name, self._timeout_s), "image"
            )
        except ImageNotSupported:
            most = IMAGE_LIMITS[IMAGE_KIND_TEMPLATE].max_bytes
            detail = Text(
                f"중계사는 {most:,}바이트까지의 JPEG와 PNG만 받습니다.",
                f"The relay accepts only JPEG and PNG of at most {most:,} bytes.",
            )
            raise Refused(Code.INVALID_IMAGE, "image", detail) from None

    async def _find(self, path: str, shape: type[T], method: str = "GET") -> T | None:
        """Return the answer for a path; None if there is no such thing."""

        async def ask() -> T | None:
            try:
                return await self._client.request(method, path, shape, timeout_s=self._timeout_s)
            except SolapiError as error:
                if error.status == NOT_FOUND:
                    return None
                raise

        return await self._refusing(ask(), "")

    async def _call(self, method: str, path: str, shape: type[T], field: str = "", *, body: Any = None) -> T:
        call = self._client.request(method, path, shape, timeout_s=self._timeout_s, body=body)
        return await self._refusing(call, field)

    async def _refusing(self, call: Awaitable[T], field: str) -> T:
        return await as_refusals(call, lambda error: _refusal(error, field))


def _refusal(error: ErrorAnswer, field: str) -> Refused:
    assert isinstance(error, SolapiError)
    if error.status == NOT_FOUND:
        code = Code.TEMPLATE_NOT_FOUND if field == "templateCode" else Code.SENDER_NOT_APPROVED
        return Refused(code, field or "senderKey", quote(error.message, error.code))
    if closes_account(error):
        return keys_not_accepted(str(error))
    code = Code.DUPLICATE if error.status == CONFLICT else Code.INVALID_PARAMETER
    if field == "image":
        code = Code.INVALID_IMAGE
    return Refused(code, field, quote(error.message, error.code))


def _segment(given: str) -> str:
    return path_segment(given, Refused(Code.SENDER_NOT_APPROVED, "senderKey"))


def _remote_profile(channel: _Channel) -> RemoteProfile:
    name = channel.searchId
    return RemoteProfile(name if name.startswith("@") else f"@{name}", channel.channelId, "")
