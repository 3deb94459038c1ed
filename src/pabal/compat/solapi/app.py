"""Solapi's endpoints: finds the endpoint of a call, checks its signature, and answers in Solapi's shapes."""

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from hmac import HMAC
from typing import Any

from pabal.compat.differences import CallDifference, Query
from pabal.compat.relay_api import (
    AdmittedKey,
    CallRefused,
    ReceivedCall,
    RelayApi,
    Route,
    RouteTable,
    parse_pairs,
    route,
)
from pabal.compat.solapi import groups, kakao, lookups, open_groups, sending, storage
from pabal.compat.solapi.call import KIND, CompatCall, check_signature, make_signer, parse_header
from pabal.compat.solapi.codes import from_refusal, invalid, not_found
from pabal.domain.base.codes import Refused
from pabal.service.access.accounts.compat_keys import secret_context
from pabal.service.access.accounts.keys import MAX_CACHED_KEYS
from pabal.store.accounts.compat_keys import PublicId
from pabal.web.http.exchange import ReceivedRequest

ROUTES = (
    route("POST", "messages/v4/send", sending.send_one, "send"),
    route("POST", "messages/v4/send-many/detail", sending.send_many, "send"),
    route("POST", "messages/v4/send-many", sending.send_all, "send"),
    route("POST", "messages/v4/groups", open_groups.create_group, "send"),
    route("PUT", "messages/v4/groups/*/messages", open_groups.add_messages, "send"),
    route("POST", "messages/v4/groups/*/send", open_groups.send_group, "send"),
    route("POST", "messages/v4/groups/*/schedule", open_groups.schedule_group, "send"),
    route("DELETE", "messages/v4/groups/*", open_groups.delete_group, "send"),
    route("GET", "messages/v4/list", lookups.list_messages, "read"),
    route("GET", "messages/v4/list-old", lookups.list_messages, "read"),
    route("GET", "messages/v4/groups", groups.list_groups, "read"),
    route("GET", "messages/v4/groups/*", open_groups.show_any_group, "read"),
    route("GET", "messages/v4/groups/*/messages", lookups.list_group_messages, "read"),
    route("DELETE", "messages/v4/groups/*/schedule", groups.cancel_schedule, "send"),
    route("POST", "storage/v1/files", storage.upload, "send"),
    route("GET", "cash/v1/balance", storage.show_balance, "read"),
    route("GET", "kakao/v2/channels", kakao.list_channels, "read"),
    route("GET", "kakao/v2/channels/*", kakao.show_channel, "read"),
    route("GET", "kakao/v2/templates", kakao.list_templates, "read"),
    route("GET", "kakao/v2/templates/*", kakao.show_template, "read"),
)


_TABLE = RouteTable(ROUTES)


class SolapiApi(RelayApi[str]):
    """Answers the calls of programs that were written for Solapi or CoolSMS."""

    prefix = "/compat/solapi"
    roots = ("/messages/v4/", "/storage/v1/", "/cash/v1/", "/kakao/v2/")

    def find_place(self, path: str) -> str:
        """Return the path itself."""
        return path

    def find_route(self, method: str, place: str) -> tuple[Route, list[str]]:
        """Return the route of a path, and the ids in it.

        Raises CallRefused.
        """
        found = _TABLE.find(method, place)
        if found is None:
            raise not_found()
        return found

    @cached_property
    def _signer_of(self) -> Callable[[bytes, PublicId, str], HMAC]:
        """Return what signs with a stored secret, which is opened once: every call is signed with it."""
        open_secret = self.context.secrets.open
        return lru_cache(MAX_CACHED_KEYS)(
            lambda stored, public_id, method: make_signer(open_secret(stored, secret_context(*public_id)), method)
        )

    async def authenticate(self, request: ReceivedRequest, place: str) -> AdmittedKey:
        """Return the key of a call, with its signature.

        Raises CallRefused.
        """
        given = parse_header(request.headers.get(b"authorization", b"").decode("latin-1"))
        public_id = PublicId(KIND, given.api_key)
        found = await self.keys.find(public_id)
        if found is None:
            raise CallRefused(403, "InvalidAPIKey", "유효한 API Key가 아님")
        check_signature(given, self._signer_of(found.secret, public_id, given.method), self.context.world.now())
        return AdmittedKey(found.key, given.signature)

    async def answer(self, received: ReceivedCall[str], found: Route, ids: Sequence[str]) -> dict[str, Any]:
        """Return the answer to a call.

        Raises CallRefused, Refused.
        """
        request, path, (key, signature), raw, now = received
        query = _parse_query(request.query)
        call = CompatCall(self.context, key, self.locale, now, path, query, raw, signature)
        answer = await found.handler(call, *ids)
        for name in query.list_unread():
            call.note(CallDifference.QUERY, name)
        return answer

    def from_refusal(self, refused: Refused, request: ReceivedRequest) -> CallRefused:
        """Return Solapi's error for a refusal of ours."""
        return from_refusal(refused)

    def describe(self, error: CallRefused) -> dict[str, Any]:
        """Return the body of an error."""
        return {"errorCode": error.code, "errorMessage": error.message}


def _parse_query(query: bytes) -> Query:
    pairs = parse_pairs(query)
    if pairs is None:
        raise invalid("쿼리 문자열이 올바르지 않습니다.")
    found: dict[str, str] = {}
    for name, value in pairs:  # lists are written as name[0]=a&name[1]=b, name[]=a&name[]=b or name=a&name=b
        plain = name.split("[")[0] if name.endswith("]") and not _is_operator(name) else name
        found[plain] = f"{found[plain]},{value}" if plain in found else value
    return Query(found)


def _is_operator(name: str) -> bool:
    return name.partition("[")[2].rstrip("]").isalpha()
