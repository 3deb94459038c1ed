"""The tables of the endpoints of KakaoTalk Bizmessage."""

from functools import partial
from typing import Any

from pabal.compat.nhncloud.call import Endpoints, NhnCall
from pabal.compat.nhncloud.talk import alimtalk, brand, friendtalk, images, lookups, profiles, templates
from pabal.compat.nhncloud.talk.cancelling import cancel_messages
from pabal.compat.nhncloud.talk.codes import BAD_SECRET, code_of
from pabal.compat.nhncloud.talk.lookups import Family, list_messages, list_results, show_message
from pabal.compat.relay_api import Route, RouteTable, route

_NONE: frozenset[str] = frozenset()


async def _show(call: NhnCall, request_id: str, seq: str, *, family: Family) -> dict[str, Any]:
    return await show_message(call, family, request_id, seq)


async def _cancel(call: NhnCall, request_id: str, *, family: Family) -> dict[str, Any]:
    return await cancel_messages(call, family, request_id)


async def _list_plain_results(call: NhnCall) -> dict[str, Any]:
    """Return results as Alimtalk has them: without a total."""
    return {"messages": (await list_results(call, lookups.ALIMTALK))[0]}


async def _list_results(call: NhnCall, *, family: Family) -> dict[str, Any]:
    found, total = await list_results(call, family)
    return {"messageSearchResultResponse": {"messages": found, "totalCount": total}}


async def _count_results(call: NhnCall, *, family: Family) -> dict[str, Any]:
    return {"totalCount": (await list_results(call, family))[1]}


def _shared(family: Family) -> tuple[Route, ...]:
    """Return what all three services have."""
    return (
        route("GET", "messages/*/*", partial(_show, family=family), "read"),
        route("DELETE", "messages/*", partial(_cancel, family=family), "send"),
        route("GET", "message-results/count", partial(_count_results, family=family), "read"),
    )


_ALIMTALK = (
    route("POST", "messages", alimtalk.send_by_template, "send"),
    route("POST", "raw-messages", alimtalk.send_finished, "send"),
    route("POST", "auth/messages", alimtalk.send_code_by_template, "send"),
    route("POST", "auth/raw-messages", alimtalk.send_finished_code, "send"),
    route("GET", "messages", partial(list_messages, family=lookups.ALIMTALK, is_code=False), "read"),
    route("GET", "auth/messages", partial(list_messages, family=lookups.ALIMTALK, is_code=True), "read"),
    route("GET", "auth/messages/*/*", partial(_show, family=lookups.ALIMTALK), "read"),
    route("GET", "message-results", _list_plain_results, "read"),
    *_shared(lookups.ALIMTALK),
    route("GET", "sender/categories", profiles.list_categories, "read"),
    route("GET", "template/categories", templates.list_categories, "read"),
    route("GET", "senders", profiles.list_senders, "read"),
    route("GET", "senders/*", profiles.show_sender, "read"),
    route("GET", "senders/*/templates", templates.list_templates, "read"),
    route("GET", "senders/*/templates/*", templates.show_template, "read"),
    route("GET", "senders/*/templates/*/modifications", templates.list_changes, "read"),
)
_FRIENDTALK = (
    route("POST", "messages", friendtalk.send, "send"),
    route("POST", "images", images.upload_for_friendtalk, "send"),
    route("GET", "messages", partial(list_messages, family=lookups.FRIENDTALK), "read"),
    route("GET", "message-results", partial(_list_results, family=lookups.FRIENDTALK), "read"),
    *_shared(lookups.FRIENDTALK),
)
_BRAND = (
    route("POST", "freestyle-messages", brand.send_freestyle, "send"),
    route("POST", "basic-messages", brand.send_basic, "send"),
    route("POST", "images", images.upload_for_brand, "send"),
    route("GET", "messages", partial(list_messages, family=lookups.BRAND), "read"),
    route("GET", "message-results", partial(_list_results, family=lookups.BRAND), "read"),
    *_shared(lookups.BRAND),
)
_TALK_VERSIONS = frozenset(("2.0", "2.1", "2.2", "2.3"))


def _service(name: str, versions: frozenset[str], routes: tuple[Route, ...]) -> Endpoints:
    return Endpoints(name, versions, _NONE, RouteTable(routes), code_of, BAD_SECRET)


TALK = (
    _service("alimtalk", _TALK_VERSIONS, _ALIMTALK),
    _service("friendtalk", _TALK_VERSIONS | {"2.4"}, _FRIENDTALK),
    _service("brand-message", frozenset(("1.0",)), _BRAND),
)
"""The services of KakaoTalk Bizmessage."""
