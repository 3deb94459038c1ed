"""The tables of NHN Cloud's endpoints: SMS, and the services of KakaoTalk Bizmessage."""

from functools import partial
from typing import Any

from pabal.compat.nhncloud.call import Endpoints, NhnCall
from pabal.compat.nhncloud.sms import lists, sending, words
from pabal.compat.nhncloud.sms.words import AD_MMS, AD_SMS, AUTH, MMS
from pabal.compat.nhncloud.sms.words import SMS as PLAIN_SMS
from pabal.compat.nhncloud.talk import alimtalk, brand, friendtalk, images, kakao, lookups
from pabal.compat.nhncloud.talk.bodies import AlimtalkBody, FinishedBody
from pabal.compat.nhncloud.talk.codes import BAD_SECRET, code_of
from pabal.compat.nhncloud.talk.lookups import Family, cancel_messages, list_messages, list_results, show_message
from pabal.compat.relay_api import Route, RouteTable, route

_NONE: frozenset[str] = frozenset()


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
        route("GET", "messages/*/*", partial(show_message, family=family), "read"),
        route("DELETE", "messages/*", partial(cancel_messages, family=family), "send"),
        route("GET", "message-results/count", partial(_count_results, family=family), "read"),
    )


_ALIMTALK = (
    route("POST", "messages", partial(alimtalk.send, shape=AlimtalkBody), "send"),
    route("POST", "raw-messages", partial(alimtalk.send, shape=FinishedBody), "send"),
    route("POST", "auth/messages", partial(alimtalk.send, shape=AlimtalkBody, is_code=True), "send"),
    route("POST", "auth/raw-messages", partial(alimtalk.send, shape=FinishedBody, is_code=True), "send"),
    route("GET", "messages", partial(list_messages, family=lookups.ALIMTALK, is_code=False), "read"),
    route("GET", "auth/messages", partial(list_messages, family=lookups.ALIMTALK, is_code=True), "read"),
    route("GET", "auth/messages/*/*", partial(show_message, family=lookups.ALIMTALK), "read"),
    route("GET", "message-results", _list_plain_results, "read"),
    *_shared(lookups.ALIMTALK),
    route("GET", "sender/categories", kakao.list_sender_categories, "read"),
    route("GET", "template/categories", kakao.list_template_categories, "read"),
    route("GET", "senders", kakao.list_senders, "read"),
    route("GET", "senders/*", kakao.show_sender, "read"),
    route("GET", "senders/*/templates", kakao.list_templates, "read"),
    route("GET", "senders/*/templates/*", kakao.show_template, "read"),
    route("GET", "senders/*/templates/*/modifications", kakao.list_changes, "read"),
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


_SECRETLESS = frozenset(("2.2", "2.3", "2.4"))
_ROUTES = (
    route("POST", "sender/sms", partial(sending.send, kind=PLAIN_SMS), "send"),
    route("POST", "sender/mms", partial(sending.send, kind=MMS), "send"),
    route("POST", "sender/auth/sms", partial(sending.send, kind=AUTH), "send"),
    route("POST", "sender/ad-sms", partial(sending.send, kind=AD_SMS), "send"),
    route("POST", "sender/ad-mms", partial(sending.send, kind=AD_MMS), "send"),
    route("POST", "attachfile/binaryUpload", sending.upload, "send"),
    route("GET", "sender/sms", partial(lists.list_texts, kind=PLAIN_SMS), "read"),
    route("GET", "sender/mms", partial(lists.list_texts, kind=MMS), "read"),
    route("GET", "sender/auth/sms", partial(lists.list_texts, kind=AUTH), "read"),
    route("GET", "sender/sms/*", partial(lists.show_text, kind=PLAIN_SMS), "read"),
    route("GET", "sender/mms/*", partial(lists.show_text, kind=MMS), "read"),
    route("GET", "sender/auth/sms/*", partial(lists.show_text, kind=AUTH), "read"),
    route("PUT", "reservations/cancel", sending.cancel, "send"),
    route("GET", "message-results", lists.list_results, "read"),
    route("GET", "sendNos", lists.list_numbers, "read"),
)
SMS = Endpoints("sms", _SECRETLESS | {"3.0"}, _SECRETLESS, RouteTable(_ROUTES), words.code_of)
