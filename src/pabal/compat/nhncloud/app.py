"""NHN Cloud's endpoints: finds the endpoint of a call, checks its keys, and answers in NHN Cloud's envelope."""

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from pabal.carriers.nhncloud.calls import IDEMPOTENCY_HEADER
from pabal.compat.differences import CallDifference, Query
from pabal.compat.nhncloud.call import (
    COMMON,
    KIND,
    Endpoints,
    NhnCall,
    NhnRefused,
    explain,
    from_gateway,
    header,
    invalid,
    not_found,
)
from pabal.compat.nhncloud.routes import SMS, TALK
from pabal.compat.relay_api import AdmittedKey, CallRefused, ReceivedCall, RelayApi, Route, parse_pairs
from pabal.domain.base.codes import Code, Refused
from pabal.service.access.accounts.compat_keys import SecretVerifier, hide_id
from pabal.store.accounts.compat_keys import CompatKey, PublicId
from pabal.web.http.exchange import ReceivedRequest

SERVICES = {each.name: each for each in (SMS, *TALK)}
"""The services that are served, by the first part of their paths."""
MAX_SECRET_CHARACTERS = 200
MAX_IDEMPOTENCY_CHARACTERS = 128
_PATH = re.compile(
    r"(?P<service>[a-z-]+)/v(?P<version>[0-9.]{1,8})/app[kK]eys/(?P<app_key>[^/]{1,128})/(?P<rest>.+)"
)
_IDEMPOTENCY_HEADER = IDEMPOTENCY_HEADER.lower().encode()


class CallPlace(NamedTuple):
    """What the path of a call names."""

    service: Endpoints
    version: str
    app_key: str
    rest: str


class NhnCloudApi(RelayApi[CallPlace]):
    """Answers the calls of programs that were written for NHN Cloud."""

    prefix = "/compat/nhncloud"
    roots = tuple(f"/{name}/" for name in SERVICES)

    @cached_property
    def _verifier(self) -> SecretVerifier:
        return SecretVerifier(self.context.world)

    def find_place(self, path: str) -> CallPlace:
        """Return what a path names.

        Raises NhnRefused.
        """
        match = _PATH.fullmatch(path)
        service = SERVICES.get(match["service"]) if match else None
        if match is None or service is None:
            raise not_found()
        return CallPlace(service, match["version"], match["app_key"], match["rest"])

    def find_route(self, method: str, place: CallPlace) -> tuple[Route, list[str]]:
        """Return the route of a call, and the ids in its path.

        Raises NhnRefused.
        """
        if place.version not in place.service.versions:
            raise NhnRefused(-9995, "Invalid api version.")
        found = place.service.table.find(method, place.rest)
        if found is None:
            raise not_found()
        return found

    async def authenticate(self, request: ReceivedRequest, place: CallPlace) -> AdmittedKey:
        """Return the key of a call: by app key and secret key, or by an app key that is the secret.

        Raises NhnRefused, and Refused(RATE_LIMITED) where many wrong secrets were given.
        """
        service, version, app_key, _ = place
        public_id = PublicId(KIND, app_key)
        secret = request.headers.get(b"x-secret-key", b"").decode("latin-1")
        if not secret and version in service.secretless:
            found = await self.keys.find(hide_id(public_id))
            if found is None:
                raise NhnRefused(*COMMON[Code.UNAUTHORIZED])
            return AdmittedKey(found.key, "")
        known = await self.keys.find(public_id)
        if known is None:
            raise NhnRefused(*COMMON[Code.UNAUTHORIZED])
        if not await self._matches(known, secret):
            raise NhnRefused(*service.bad_secret)
        return AdmittedKey(known.key, "")

    async def _matches(self, known: CompatKey, secret: str) -> bool:
        return 0 < len(secret) <= MAX_SECRET_CHARACTERS and await self._verifier.matches(known.secret, secret)

    async def answer(self, received: ReceivedCall[CallPlace], found: Route, ids: Sequence[str]) -> dict[str, Any]:
        """Return the answer to a call.

        Raises NhnRefused, Refused.
        """
        request, place, (key, _), raw, now = received
        given = request.headers.get(_IDEMPOTENCY_HEADER, b"").decode("latin-1")
        if len(given) > MAX_IDEMPOTENCY_CHARACTERS:
            raise invalid(f"{IDEMPOTENCY_HEADER}: 1 ~ {MAX_IDEMPOTENCY_CHARACTERS}")
        query = _parse_query(request.query)
        version, rest = place.version, place.rest
        call = NhnCall(self.context, key, self.locale, now, version, rest, query, raw, given or None)
        answer = await found.handler(call, *ids)
        for name in query.list_unread():
            call.note(CallDifference.QUERY, name)
        return {"header": header(), **answer}

    def from_refusal(self, refused: Refused, request: ReceivedRequest) -> CallRefused:
        """Return NHN Cloud's error for a refusal of ours."""
        error = from_gateway(refused)
        if error is not None:
            return error
        place = self.find_place(self.path_of(request))
        problem = refused.problems[0]
        code, words = place.service.code_of(problem)
        return NhnRefused(code, explain(words, problem))

    def describe(self, error: CallRefused) -> dict[str, Any]:
        """Return the body of an error."""
        beside = error.body if isinstance(error, NhnRefused) else {}
        return {"header": header(int(error.code), error.message), **beside}


def _parse_query(query: bytes) -> Query:
    """Return the fields of a query; of one that is there twice, the last.

    Raises NhnRefused.
    """
    pairs = parse_pairs(query)
    if pairs is None:
        raise invalid("The query string is malformed.")
    return Query(dict(pairs))
