"""The provider of profiles and templates: NHN Cloud's KakaoTalk Bizmessage."""

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import msgspec

from pabal.carriers.nhncloud import templates as nhn_templates
from pabal.carriers.nhncloud.client import ErrorResponse, NhnCloudClient, UploadFile
from pabal.carriers.nhncloud.codes import (
    NO_SUCH_PROFILE,
    NO_SUCH_TEMPLATE,
    as_refusals,
    outcome_unknown,
)
from pabal.carriers.nhncloud.templates import NhnTemplate, UploadedImage
from pabal.carriers.provider import RelayProvider, RemoteCategories, RemoteProfile, RemoteTemplate
from pabal.carriers.relay.refusals import ALREADY_REGISTERED, NOT_A_SEGMENT, OTHER_IN_REVIEW, path_segment
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.content.image import JPEG, Image
from pabal.domain.kakao.profile import Category, Registration, Suspension
from pabal.domain.kakao.template import ReviewDecision, TemplateContent, TemplateStatus

T = TypeVar("T")

PAGE_SIZE = 1000
MAX_PAGES = 100
MAX_TOKEN_DIGITS = 9
MAX_DEPTH = 3
CATEGORY_CODE_DIGITS = 11
_REGISTERED = "YSC03"
_BLOCKED_BY_KAKAO = "S"
_SUSPENSIONS = {"B": Suspension.BLOCKED, "C": Suspension.INACTIVE, "D": Suspension.DELETED, "E": Suspension.DELETED}
"""By kakaoProfileStatus, the state of the profile at Kakao."""
_BASE_PATH = "/alimtalk/v2.3/appkeys/{appkey}"


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
    """Stores profiles and templates at NHN Cloud."""

    def __init__(self, client: NhnCloudClient, timeout_s: float, page_size: int = PAGE_SIZE) -> None:
        self._client = client
        self._timeout_s = timeout_s
        self._page_size = page_size

    async def register_profile(self, account_id: int, registration: Registration, token: str | None) -> None:
        channel_id, category, cellphone = registration
        await self._refuse_verified_channel(channel_id)
        body = {"plusFriendId": channel_id, "phoneNo": cellphone, "categoryCode": category}
        await as_refusals(self._request("POST", "/senders", body=body), "channelId")

    async def verify_token(self, registration: Registration, token: str) -> str:
        if not (token.isascii() and token.isdigit() and len(token) <= MAX_TOKEN_DIGITS):
            raise Refused(Code.TOKEN_INVALID, "token")
        await self._refuse_verified_channel(registration.channel_id)
        body = {"plusFriendId": registration.channel_id, "token": int(token)}
        try:
            answer = await as_refusals(self._request("POST", "/sender/token", body=body), "token")
        except Refused as refusal:
            if refusal.code is Code.SERVICE_UNAVAILABLE:
                raise
            is_registration_gone = refusal.code is Code.SENDER_NOT_APPROVED
            code = Code.TOKEN_EXPIRED if is_registration_gone else Code.TOKEN_INVALID
            raise Refused(code, "token", refusal.problems[0].detail) from None
        sender = _convert(answer.get("sender"), _Sender)
        if not sender.senderKey:
            raise outcome_unknown("a verified profile has no key")
        return sender.senderKey

    async def find_profile(self, channel_id: str) -> RemoteProfile | None:
        found = await self._list("/senders", ("senders",), _Sender, {"plusFriendId": channel_id})
        profiles = (each for each in map(_remote_profile, found) if each.channel_id == channel_id)
        return next(profiles, None)

    async def get_profile(self, sender_key: str) -> RemoteProfile | None:
        answer = await self._request_or_none("GET", _profile_path(sender_key), NO_SUCH_PROFILE)
        return None if answer is None else _remote_profile(_convert(answer.get("sender"), _Sender))

    async def list_profiles(self) -> list[RemoteProfile]:
        return [_remote_profile(each) for each in await self._list("/senders", ("senders",), _Sender)]

    async def delete_profile(self, sender_key: str) -> None:
        await self._delete(_profile_path(sender_key), "senderKey")

    async def submit_template(
        self, sender_key: str, code: str, content: TemplateContent, image: Image | None
    ) -> ReviewDecision | None:
        nhn_templates.check(content)
        known = await self.get_template(sender_key, code)
        if known is not None and await self._is_in_review(sender_key, known, content):
            return None
        uploaded = (
            await self._upload(image)
            if image is not None and content.emphasis_type in ("image", "itemList")
            else None
        )
        body = nhn_templates.to_remote(content, uploaded)
        if known is None:
            new = {"templateCode": code, **body}
            await as_refusals(self._request("POST", _templates_path(sender_key), body=new), "templateCode")
        else:
            await as_refusals(self._request("PUT", _template_path(sender_key, code), body=body), "templateCode")
        return None

    async def upload_thumbnail(self, image: Image) -> str:
        return (await self._upload(image, "/template-image/item-highlight", "itemHighlight.image")).address

    async def list_templates(self, sender_key: str) -> list[RemoteTemplate]:
        keys = ("templateListResponse", "templates")
        found = await self._list(_templates_path(sender_key), keys, NhnTemplate)
        return [nhn_templates.from_remote(each) for each in found]

    async def get_template(self, sender_key: str, code: str) -> RemoteTemplate | None:
        answer = await self._request_or_none("GET", _template_path(sender_key, code), NO_SUCH_TEMPLATE)
        return None if answer is None else nhn_templates.from_remote(_convert(answer.get("templates"), NhnTemplate))

    async def get_template_change(self, sender_key: str, code: str) -> RemoteTemplate | None:
        path = f"{_template_path(sender_key, code)}/modifications"
        answer = await self._request_or_none("GET", path, NO_SUCH_TEMPLATE)
        part = _part(answer or {}, "templateModificationsResponse")
        found = _convert(part.get("templates") or [], list[NhnTemplate])
        return nhn_templates.from_remote(nhn_templates.newest(found)) if found else None

    async def delete_template(self, sender_key: str, code: str) -> None:
        await self._delete(_template_path(sender_key, code), "templateCode")

    async def list_categories(self) -> RemoteCategories:
        senders = await as_refusals(self._request("GET", "/sender/categories"))
        templates = await as_refusals(self._request("GET", "/template/categories"))
        return RemoteCategories(
            tuple(_leaf_categories(_convert(senders.get("categories") or [], list[_Category]))),
            tuple(_template_categories(_convert(templates.get("categories") or [], list[_Category]))),
        )

    def is_same_content(self, ours: TemplateContent, theirs: TemplateContent) -> bool:
        return nhn_templates.is_same(ours, theirs)

    async def close(self) -> None:
        await self._client.close()

    async def _refuse_verified_channel(self, channel_id: str) -> None:
        """Refuse a channel that is verified at NHN Cloud already: only an operator can assign it to an account."""
        known = await self.find_profile(channel_id)
        if known is not None and known.sender_key is not None:
            raise Refused(Code.DUPLICATE, "channelId", ALREADY_REGISTERED)

    async def _is_in_review(self, sender_key: str, known: RemoteTemplate, content: TemplateContent) -> bool:
        """Return whether this content is already under review, as a new template or as a change of an approved one.

        Raises Refused(INVALID_STATE) if other content of the template is under review.
        """
        if known.status is TemplateStatus.REJECTED:
            return False
        if known.status is TemplateStatus.APPROVED:
            change = await self.get_template_change(sender_key, known.code)
            if change is None or change.status is not TemplateStatus.INSPECTING:
                return False
            known = change
        if not nhn_templates.is_same(content, known.content):
            raise Refused(Code.INVALID_STATE, "templateCode", OTHER_IN_REVIEW)
        return True

    async def _upload(self, image: Image, path: str = "/template-image", field: str = "image") -> UploadedImage:
        if image.content_type != JPEG:
            detail = Text("중계사는 JPEG만 받습니다.", "The relay accepts only JPEG.")
            raise Refused(Code.INVALID_IMAGE, field, detail)
        has_jpeg_extension = image.file_name.lower().endswith((".jpg", ".jpeg"))
        file_name = image.file_name if has_jpeg_extension else f"{image.file_name}.jpg"
        file = UploadFile("file", file_name, JPEG, image.body)
        answer = await as_refusals(self._request("POST", path, file=file), field)
        found = _part(answer, "templateImage")
        name, address = found.get("templateImageName"), found.get("templateImageUrl")
        if not isinstance(name, str) or not isinstance(address, str):
            raise outcome_unknown("an uploaded image has no address")
        return UploadedImage(name, address)

    async def _list(
        self,
        path: str,
        keys: tuple[str, ...],
        shape: type[T],
        query: Mapping[str, str | int] | None = None,
    ) -> list[T]:
        """Return all entries of a list, page by page.

        Raises ProviderOutcomeUnknown for an incomplete list: entries may change between two pages.
        """
        found: list[T] = []
        for number in range(1, MAX_PAGES + 1):
            page_query = {**(query or {}), "pageNum": number, "pageSize": self._page_size}
            answer: Any = await as_refusals(self._request("GET", path, query=page_query))
            for key in keys[:-1]:
                answer = _part(answer, key)
            page = _convert(answer.get(keys[-1]) or [], list[shape])  # type: ignore[valid-type]
            found += page
            if len(page) < self._page_size:
                if answer.get("totalCount") not in (len(found), None):
                    break
                return found
        raise outcome_unknown("a list is incomplete")

    async def _delete(self, path: str, field: str) -> None:
        """Delete what is at a path; deleting a profile also deletes its templates."""
        await self._request_or_none("DELETE", path, NO_SUCH_PROFILE, NO_SUCH_TEMPLATE, field=field)

    async def _request_or_none(
        self, method: str, path: str, *not_found: int, field: str = ""
    ) -> Mapping[str, Any] | None:
        """Return the answer for a path; None if the error code is one of `not_found`."""

        async def request() -> Mapping[str, Any] | None:
            try:
                return await self._request(method, path)
            except ErrorResponse as error:
                if error.code in not_found:
                    return None
                raise

        return await as_refusals(request(), field)

    async def _request(
        self,
        method: str,
        path: str,
        *,
        body: Any = None,
        query: Mapping[str, str | int] | None = None,
        file: UploadFile | None = None,
    ) -> dict[str, Any]:
        return await self._client.request(
            method, _BASE_PATH + path, timeout_s=self._timeout_s, body=body, query=query, file=file
        )


def _profile_path(sender_key: str) -> str:
    return f"/senders/{_segment(sender_key, 'senderKey')}"


def _templates_path(sender_key: str) -> str:
    return f"{_profile_path(sender_key)}/templates"


def _template_path(sender_key: str, code: str) -> str:
    return f"{_templates_path(sender_key)}/{_segment(code, 'templateCode')}"


def _segment(given: str, field: str) -> str:
    return path_segment(given, Refused(Code.INVALID_PARAMETER, field, NOT_A_SEGMENT))


def _part(answer: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return an object inside an answer.

    Raises ProviderOutcomeUnknown if it is something else.
    """
    found = answer.get(key) or {}
    if not isinstance(found, dict):
        raise outcome_unknown(f"{key} is not an object")
    return found


def _convert(part: Any, shape: type[T]) -> T:
    """Return a part of an answer as a typed value.

    Raises ProviderOutcomeUnknown if it has another shape.
    """
    try:
        return msgspec.convert(part, shape)
    except msgspec.ValidationError as error:
        raise outcome_unknown(f"unexpected answer: {error}") from None


def _remote_profile(sender: _Sender) -> RemoteProfile:
    name = sender.plusFriendId
    is_registered = sender.status == _REGISTERED
    return RemoteProfile(
        name if name.startswith("@") else f"@{name}",
        (sender.senderKey or None) if is_registered else None,
        sender.categoryCode or "",
        _suspension(sender) if is_registered else None,
    )


def _suspension(sender: _Sender) -> Suspension | None:
    if sender.block or sender.kakaoStatus == _BLOCKED_BY_KAKAO:
        return Suspension.BLOCKED
    at_kakao = _SUSPENSIONS.get(sender.kakaoProfileStatus or "")
    return at_kakao or (Suspension.DORMANT if sender.dormant else None)


def _leaf_categories(
    given: list[_Category], above: tuple[str, ...] = (), parent_code: str = ""
) -> Iterator[Category]:
    """Yield the categories of profiles without subcategories, each with its full name and code.

    The codes in the list are those of each level, of 3, 4 and 4 digits; a registration takes all of them joined.
    """
    for each in given:
        names, own = (*above, each.name), each.code or ""
        code = own if len(own) == CATEGORY_CODE_DIGITS else parent_code + own
        if each.subCategories and len(names) < MAX_DEPTH:
            yield from _leaf_categories(each.subCategories, names, code)
        elif own:
            yield Category(code, ",".join(names))


def _template_categories(given: list[_Category]) -> Iterator[Category]:
    """Yield the categories of templates with their groups."""
    for group in given:
        for each in group.subCategories or ():
            if each.code:
                yield Category(each.code, each.name, each.groupName or group.name)
