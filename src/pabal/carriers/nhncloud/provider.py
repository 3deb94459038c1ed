"""Sender profiles and templates as NHN Cloud keeps them."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar
from urllib.parse import quote

import msgspec

from pabal.carriers.nhncloud import templates as relay_templates
from pabal.carriers.nhncloud.client import File, NhnCloudClient, Said
from pabal.carriers.nhncloud.refusals import (
    NO_SUCH_PROFILE,
    NO_SUCH_TEMPLATE,
    refusing,
    unsure,
)
from pabal.carriers.nhncloud.templates import NhnTemplate, UploadedImage
from pabal.carriers.provider import RelayProvider, RemoteCategories, RemoteProfile, RemoteTemplate
from pabal.domain.category import Category
from pabal.domain.codes import Code, Refused, Text
from pabal.domain.image import Image
from pabal.domain.profile import Registration
from pabal.domain.suspension import Suspension
from pabal.domain.template import ReviewDecision, TemplateContent, TemplateStatus

T = TypeVar("T")

MOST_A_PAGE = 1000
MOST_PAGES = 100
MAX_TOKEN_DIGITS = 9
MAX_DEPTH = 3
JPEG = "image/jpeg"
_REGISTERED = "YSC03"
_BLOCKED_BY_KAKAO = "S"
_BARS = {"B": Suspension.BLOCKED, "C": Suspension.INACTIVE, "D": Suspension.DELETED, "E": Suspension.DELETED}
"""By the state of the channel's profile at Kakao."""
_OPEN = "/alimtalk/v2.3/appkeys/{appkey}"


class _Sender(msgspec.Struct):
    plusFriendId: str
    senderKey: str | None = None
    categoryCode: str | None = None
    status: str | None = None
    kakaoStatus: str | None = None
    kakaoProfileStatus: str | None = None
    dormant: bool | None = None
    block: bool | None = None


class _Category(msgspec.Struct):
    name: str
    code: str | None = None
    groupName: str | None = None
    subCategories: "list[_Category] | None" = None


class NhnCloudProvider(RelayProvider):
    """The desk of its KakaoTalk Bizmessage service."""

    def __init__(self, client: NhnCloudClient, within_s: float, most_a_page: int = MOST_A_PAGE) -> None:
        self._client = client
        self._within_s = within_s
        self._most_a_page = most_a_page

    async def register_profile(self, account_id: int, registration: Registration, token: str | None) -> None:
        channel_id, category, cellphone = registration
        await self._check_new(channel_id)
        body = {"plusFriendId": channel_id, "phoneNo": cellphone, "categoryCode": category}
        await refusing(self._ask("POST", "/senders", body=body), "channelId")

    async def verify_token(self, channel_id: str, token: str) -> str:
        if not (token.isascii() and token.isdigit() and len(token) <= MAX_TOKEN_DIGITS):
            raise Refused(Code.TOKEN_INVALID, "token")
        await self._check_new(channel_id)
        body = {"plusFriendId": channel_id, "token": int(token)}
        try:
            answer = await refusing(self._ask("POST", "/sender/token", body=body), "token")
        except Refused as refusal:
            if refusal.code is Code.SERVICE_UNAVAILABLE:
                raise
            is_unknown = refusal.code is Code.SENDER_NOT_APPROVED  # it has forgotten the registration
            code = Code.TOKEN_EXPIRED if is_unknown else Code.TOKEN_INVALID
            raise Refused(code, "token", refusal.problems[0].detail) from None
        sender = _read(answer.get("sender"), _Sender)
        if not sender.senderKey:
            raise unsure("a profile that was proved has no key")
        return sender.senderKey

    async def find_profile(self, channel_id: str) -> RemoteProfile | None:
        found = await self._list("/senders", ("senders",), _Sender, {"plusFriendId": channel_id})
        mine = (each for each in map(_standing, found) if each.channel_id == channel_id)
        return next(mine, None)

    async def get_profile(self, sender_key: str) -> RemoteProfile | None:
        answer = await self._one(f"/senders/{quote(sender_key, safe='')}", NO_SUCH_PROFILE)
        return None if answer is None else _standing(_read(answer.get("sender"), _Sender))

    async def list_profiles(self) -> list[RemoteProfile]:
        return [_standing(each) for each in await self._list("/senders", ("senders",), _Sender)]

    async def delete_profile(self, sender_key: str) -> None:
        await self._remove(f"/senders/{quote(sender_key, safe='')}", "senderKey")

    async def submit_template(
        self, sender_key: str, code: str, design: TemplateContent, image: Image | None
    ) -> ReviewDecision | None:
        relay_templates.check(design)
        known = await self.get_template(sender_key, code)
        if known is not None and await self._is_in_review(sender_key, known, design):
            return None
        picture = await self._upload(image) if image is not None and design.emphasis_type == "image" else None
        body = relay_templates.to_relay(design, picture)
        if known is None:
            new = {"templateCode": code, **body}
            await refusing(self._ask("POST", _templates_of(sender_key), body=new), "templateCode")
        else:
            await refusing(self._ask("PUT", _template_of(sender_key, code), body=body), "templateCode")
        return None

    async def list_templates(self, sender_key: str) -> list[RemoteTemplate]:
        within = ("templateListResponse", "templates")
        return [
            relay_templates.from_relay(each)
            for each in await self._list(_templates_of(sender_key), within, NhnTemplate)
        ]

    async def get_template(self, sender_key: str, code: str) -> RemoteTemplate | None:
        answer = await self._one(_template_of(sender_key, code), NO_SUCH_TEMPLATE)
        return None if answer is None else relay_templates.from_relay(_read(answer.get("templates"), NhnTemplate))

    async def get_template_change(self, sender_key: str, code: str) -> RemoteTemplate | None:
        answer = await self._one(f"{_template_of(sender_key, code)}/modifications", NO_SUCH_TEMPLATE)
        within = _part(answer or {}, "templateModificationsResponse")
        found = [
            relay_templates.from_relay(each) for each in _read(within.get("templates") or [], list[NhnTemplate])
        ]
        return found[0] if found else None

    async def delete_template(self, sender_key: str, code: str) -> None:
        path = _template_of(sender_key, code)
        await self._remove(path, "templateCode")

    async def list_categories(self) -> RemoteCategories:
        senders = await refusing(self._ask("GET", "/sender/categories"))
        templates = await refusing(self._ask("GET", "/template/categories"))
        return RemoteCategories(
            tuple(_leaves(_read(senders.get("categories") or [], list[_Category]))),
            tuple(_grouped(_read(templates.get("categories") or [], list[_Category]))),
        )

    def is_same_design(self, ours: TemplateContent, theirs: TemplateContent) -> bool:
        return relay_templates.is_same(ours, theirs)

    async def close(self) -> None:
        await self._client.close()

    async def _check_new(self, channel_id: str) -> None:
        """Refuse a channel that has been proved there before: whose it is here, only an operator can say."""
        known = await self.find_profile(channel_id)
        if known is not None and known.sender_key is not None:
            raise Refused(Code.DUPLICATE, "channelId", _REGISTERED_THERE)

    async def _is_in_review(self, sender_key: str, known: RemoteTemplate, design: TemplateContent) -> bool:
        """Say whether a design is being reviewed already, as a new template or as a change of an approved one."""
        if known.status is TemplateStatus.REJECTED:
            return False
        if known.status is TemplateStatus.APPROVED:
            change = await self.get_template_change(sender_key, known.code)
            if change is None or change.status is not TemplateStatus.INSPECTING:
                return False
            known = change
        if not relay_templates.is_same(design, known.design):
            raise Refused(Code.INVALID_STATE, "templateCode", _OTHER_IN_REVIEW)
        return True

    async def _upload(self, image: Image) -> UploadedImage:
        if image.content_type != JPEG:
            detail = Text("중계사는 JPEG만 받습니다.", "The relay takes nothing but JPEG.")
            raise Refused(Code.INVALID_IMAGE, "image", detail)
        is_named = image.file_name.lower().endswith((".jpg", ".jpeg"))
        file = File("file", image.file_name if is_named else f"{image.file_name}.jpg", JPEG, image.body)
        answer = await refusing(self._ask("POST", "/template-image", file=file), "image")
        found = _part(answer, "templateImage")
        name, address = found.get("templateImageName"), found.get("templateImageUrl")
        if not isinstance(name, str) or not isinstance(address, str):
            raise unsure("an uploaded picture has no address")
        return UploadedImage(name, address)

    async def _list(
        self,
        path: str,
        within: tuple[str, ...],
        shape: type[T],
        query: Mapping[str, str | int] | None = None,
    ) -> list[T]:
        """Return everything that a list has, page by page.

        Raises Unsure for a list that is not whole: something may have come or gone between two pages.
        """
        found: list[T] = []
        for number in range(1, MOST_PAGES + 1):
            asked = {**(query or {}), "pageNum": number, "pageSize": self._most_a_page}
            answer: Any = await refusing(self._ask("GET", path, query=asked))
            for word in within[:-1]:
                answer = _part(answer, word)
            page = _read(answer.get(within[-1]) or [], list[shape])  # type: ignore[valid-type]
            found += page
            if len(page) < self._most_a_page:
                if answer.get("totalCount") not in (len(found), None):
                    break
                return found
        raise unsure("a list is not whole")

    async def _one(self, path: str, none: int) -> Mapping[str, Any] | None:
        """Return what there is at a path; None: it says that there is nothing, with the code `none`."""
        return await refusing(self._unless((none,), "GET", path))

    async def _remove(self, path: str, field: str) -> None:
        """Delete what is at a path; a profile that is gone has taken its templates along."""
        await refusing(self._unless((NO_SUCH_PROFILE, NO_SUCH_TEMPLATE), "DELETE", path), field)

    async def _unless(self, none: tuple[int, ...], method: str, path: str) -> Mapping[str, Any] | None:
        try:
            return await self._ask(method, path)
        except Said as said:
            if said.code in none:
                return None
            raise

    async def _ask(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        query: Mapping[str, str | int] | None = None,
        file: File | None = None,
    ) -> dict[str, Any]:
        return await self._client.ask(
            method, _OPEN + path, within_s=self._within_s, body=body, query=query, file=file
        )


_REGISTERED_THERE = Text(
    "이 채널은 중계사에 이미 등록되어 있습니다. 운영자가 `pabal profile adopt`로 가져올 수 있습니다.",
    "This channel is registered at the relay already; the operator can take it over with `pabal profile adopt`.",
)
_OTHER_IN_REVIEW = Text(
    "중계사가 이 템플릿의 다른 내용을 검수하고 있습니다.", "The relay is reviewing another text of this template."
)


def _templates_of(sender_key: str) -> str:
    return f"/senders/{quote(sender_key, safe='')}/templates"


def _template_of(sender_key: str, code: str) -> str:
    return f"{_templates_of(sender_key)}/{quote(code, safe='')}"


def _part(answer: Mapping[str, Any], word: str) -> Mapping[str, Any]:
    """Return a part of an answer that has parts itself.

    Raises Unsure where it is something else.
    """
    found = answer.get(word) or {}
    if not isinstance(found, dict):
        raise unsure(f"{word} is no object")
    return found


def _read(part: Any, shape: type[T]) -> T:
    """Return a part of an answer as what it should be.

    Raises Unsure where it is something else.
    """
    try:
        return msgspec.convert(part, shape)
    except msgspec.ValidationError as error:
        raise unsure(f"an answer of another shape: {error}") from None


def _standing(sender: _Sender) -> RemoteProfile:
    name = sender.plusFriendId
    is_registered = sender.status == _REGISTERED
    return RemoteProfile(
        name if name.startswith("@") else f"@{name}",
        sender.senderKey or None if is_registered else None,
        sender.categoryCode or "",
        _bar(sender) if is_registered else None,
    )


def _bar(sender: _Sender) -> Suspension | None:
    if sender.block or sender.kakaoStatus == _BLOCKED_BY_KAKAO:
        return Suspension.BLOCKED
    at_kakao = _BARS.get(sender.kakaoProfileStatus or "")
    return at_kakao or (Suspension.DORMANT if sender.dormant else None)


def _leaves(given: list[_Category], above: tuple[str, ...] = ()) -> Iterator[Category]:
    """Yield the categories of profiles that have none below them, each by its whole name."""
    for each in given:
        names = (*above, each.name)
        if each.subCategories and len(names) < MAX_DEPTH:
            yield from _leaves(each.subCategories, names)
        elif each.code:
            yield Category(each.code, ",".join(names))


def _grouped(given: list[_Category]) -> Iterator[Category]:
    """Yield the categories of templates, each with its group."""
    for group in given:
        for each in group.subCategories or ():
            if each.code:
                yield Category(each.code, each.name, each.groupName or group.name)
