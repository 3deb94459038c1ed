"""The table of the SMS endpoints."""

from pabal.compat.nhncloud.call import Endpoints
from pabal.compat.nhncloud.sms import files, lists, reservations, results, sender_numbers, sending
from pabal.compat.nhncloud.sms.codes import code_of
from pabal.compat.relay_api import RouteTable, route

_SECRETLESS = frozenset(("2.2", "2.3", "2.4"))
_ROUTES = (
    route("POST", "sender/sms", sending.send_sms, "send"),
    route("POST", "sender/mms", sending.send_mms, "send"),
    route("POST", "sender/auth/sms", sending.send_auth_sms, "send"),
    route("POST", "sender/ad-sms", sending.send_ad_sms, "send"),
    route("POST", "sender/ad-mms", sending.send_ad_mms, "send"),
    route("POST", "attachfile/binaryUpload", files.upload, "send"),
    route("GET", "sender/sms", lists.list_sms, "read"),
    route("GET", "sender/mms", lists.list_mms, "read"),
    route("GET", "sender/auth/sms", lists.list_auth_sms, "read"),
    route("GET", "sender/sms/*", lists.show_sms, "read"),
    route("GET", "sender/mms/*", lists.show_mms, "read"),
    route("GET", "sender/auth/sms/*", lists.show_auth_sms, "read"),
    route("PUT", "reservations/cancel", reservations.cancel, "send"),
    route("GET", "message-results", results.list_results, "read"),
    route("GET", "sendNos", sender_numbers.list_numbers, "read"),
)
SMS = Endpoints("sms", _SECRETLESS | {"3.0"}, _SECRETLESS, RouteTable(_ROUTES), code_of)
