"""The table of the SMS endpoints."""

from functools import partial

from pabal.compat.nhncloud.call import Endpoints
from pabal.compat.nhncloud.sms import files, lists
from pabal.compat.nhncloud.sms.codes import code_of
from pabal.compat.nhncloud.sms.kinds import AD_MMS, AD_SMS, AUTH, MMS
from pabal.compat.nhncloud.sms.kinds import SMS as PLAIN_SMS
from pabal.compat.nhncloud.sms.lists import list_texts, show_text
from pabal.compat.nhncloud.sms.sending import cancel, send
from pabal.compat.relay_api import RouteTable, route

_SECRETLESS = frozenset(("2.2", "2.3", "2.4"))
_ROUTES = (
    route("POST", "sender/sms", partial(send, kind=PLAIN_SMS), "send"),
    route("POST", "sender/mms", partial(send, kind=MMS), "send"),
    route("POST", "sender/auth/sms", partial(send, kind=AUTH), "send"),
    route("POST", "sender/ad-sms", partial(send, kind=AD_SMS), "send"),
    route("POST", "sender/ad-mms", partial(send, kind=AD_MMS), "send"),
    route("POST", "attachfile/binaryUpload", files.upload, "send"),
    route("GET", "sender/sms", partial(list_texts, kind=PLAIN_SMS), "read"),
    route("GET", "sender/mms", partial(list_texts, kind=MMS), "read"),
    route("GET", "sender/auth/sms", partial(list_texts, kind=AUTH), "read"),
    route("GET", "sender/sms/*", partial(show_text, kind=PLAIN_SMS), "read"),
    route("GET", "sender/mms/*", partial(show_text, kind=MMS), "read"),
    route("GET", "sender/auth/sms/*", partial(show_text, kind=AUTH), "read"),
    route("PUT", "reservations/cancel", cancel, "send"),
    route("GET", "message-results", lists.list_results, "read"),
    route("GET", "sendNos", lists.list_numbers, "read"),
)
SMS = Endpoints("sms", _SECRETLESS | {"3.0"}, _SECRETLESS, RouteTable(_ROUTES), code_of)
