"""Groups: the messages of one call, with what became of them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from pabal.compat.solapi.call import KIND, CompatCall, format_group_id, parse_group_id
from pabal.compat.solapi.codes import CallRefused, invalid, not_found
from pabal.domain.base import dates, identifiers
from pabal.domain.base.dates import Instant, Period
from pabal.domain.base.identifiers import REQUEST_ID_BYTES
from pabal.domain.sends.message import Status
from pabal.service.sending.waiting import cancel_request
from pabal.store.engine.base import Tx
from pabal.store.messages import compat_requests, messages, requests
from pabal.store.messages.compat_requests import CompatRequest

CHARGED_TYPES = (
    *("sms", "lms", "mms", "ata", "cta", "cti", "nsa", "rcs_sms", "rcs_lms", "rcs_mms", "rcs_tpl", "rcs_itpl"),
    *("rcs_ltpl", "fax", "voice", "bms_text", "bms_image", "bms_wide", "bms_wide_item_list", "bms_carousel_feed"),
    *("bms_premium_video", "bms_commerce", "bms_carousel_commerce", "bms_free"),
)
"""The keys of countForCharge and app.profit, which Solapi's clients expect."""
_NO_MONEY = {"requested": 0, "replacement": 0, "refund": 0, "sum": 0}
_LAST_ID = b"\xff" * REQUEST_ID_BYTES


class _Counts(NamedTuple):
    """How many messages of a group have which status; texts in place of failed messages count as replacements."""

    waiting: int = 0
    sending: int = 0
    completed: int = 0
    failed: int = 0
    cancelled: int = 0
    replacements: int = 0


class _Group(NamedTuple):
    """A group as it is now."""

    first: CompatRequest
    counts: _Counts
    scheduled_at: Instant

    @property
    def created_at(self) -> Instant:
        return identifiers.requested_at(self.first.group_id)

    def status(self, now: Instant) -> str:
        """Return Solapi's word for the state of the group."""
        counts = self.counts
        if counts.waiting and self.scheduled_at > now:
            return "SCHEDULED"
        if counts.waiting or counts.sending:
            return "SENDING"
        return "COMPLETE" if counts.completed or counts.failed else "FAILED"


def describe_new_group(
    call: CompatCall, group_id: bytes, total: int, refused: int, *, allows_duplicates: bool, is_scheduled: bool
) -> dict[str, Any]:
    """Return the group of a call that was just answered."""
    first = CompatRequest(group_id, call.account_id, KIND, group_id, total, refused, allows_duplicates)
    accepted = total - refused
    now = identifiers.requested_at(group_id)
    group = _Group(first, _Counts(waiting=accepted), now + 1 if is_scheduled else now)
    return _describe(call, group, now)


async def show_group(call: CompatCall, group_id: str) -> dict[str, Any]:
    """Return one group."""
    return _describe(call, await _get(call, group_id), call.now)


async def list_groups(call: CompatCall) -> dict[str, Any]:
    """Return groups, newest first."""
    query = call.query
    limit = call.read_limit()
    wanted = query.get("groupId")
    if query.get("criteria"):
        if (query["criteria"], query.get("cond")) != ("groupId", "eq"):
            raise invalid("criteria 는 groupId, cond 는 eq 만 사용할 수 있습니다.")
        wanted = query.get("value")
    if wanted:
        groups = [await _get(call, wanted)]
        return {
            "startKey": query.get("startKey"),
            "nextKey": None,
            "limit": limit,
            "groupList": _by_id(call, groups),
        }
    start = query.get("startKey")
    period = call.read_period("startDate", "endDate") or Period(None, None)
    since = b"" if period.start is None else _first_id(period.start)
    before = _LAST_ID if period.end is None else _first_id(period.end)
    if start:
        before = min(before, parse_group_id(start) + b"\x00")
    found = await call.context.store.read(_read_page, call.account_id, since, before, limit + 1)
    following = format_group_id(found[limit].first.group_id) if len(found) > limit else None
    page = _by_id(call, found[:limit])
    return {"startKey": start, "nextKey": following, "limit": limit, "groupList": page}


async def cancel_schedule(call: CompatCall, group_id: str) -> dict[str, Any]:
    """Cancel the waiting messages of a scheduled group."""
    group = await _get(call, group_id)
    if group.status(call.now) != "SCHEDULED":
        raise CallRefused(400, "ValidationError", "예약된 그룹이 아닙니다.")
    for each in await _requests_of(call, group.first.group_id):
        await cancel_request(call.context, call.account_id, each.request_id, None)
    return _describe(call, await _get(call, group_id), call.now)


async def _requests_of(call: CompatCall, group_id: bytes) -> list[CompatRequest]:
    return await call.context.store.read(compat_requests.list_of_group, call.account_id, KIND, group_id)


async def request_ids_of(call: CompatCall, group_id: str) -> list[bytes]:
    """Return the requests of a group.

    Raises CallRefused where the account has no such group.
    """
    found = await _requests_of(call, parse_group_id(group_id))
    if not found:
        raise not_found()
    return [each.request_id for each in found]


async def _get(call: CompatCall, group_id: str) -> _Group:
    found = await call.context.store.read(_read_group, call.account_id, parse_group_id(group_id))
    if found is None:
        raise not_found()
    return found


def _read_group(tx: Tx, account_id: int, group_id: bytes) -> _Group | None:
    found = compat_requests.list_of_group(tx, account_id, KIND, group_id)
    if not found:
        return None
    ids = [each.request_id for each in found]
    totals = requests.get_totals(tx, ids)
    counts = _Counts()
    for one in ids:
        by_status = messages.count_by_status(tx, account_id, *identifiers.message_id_range(one))
        own = [by_status.get(each, 0) for each in _STATUSES]
        replaced = max(0, sum(own) - totals.get(one, 0))
        counts = _Counts(*[before + more for before, more in zip(counts, [*own, replaced], strict=True)])
    scheduled = [each.scheduled_at for each in requests.get(tx, ids[:1]).values()]
    return _Group(found[0], counts, scheduled[0] if scheduled else 0)


_STATUSES = (Status.WAITING, Status.SENDING, Status.COMPLETED, Status.FAIL, Status.CANCEL)


def _read_page(tx: Tx, account_id: int, since: bytes, before: bytes, limit: int) -> list[_Group]:
    found = compat_requests.list_groups(tx, account_id, KIND, since, before, limit)
    groups = [_read_group(tx, account_id, each.group_id) for each in found]
    return [each for each in groups if each is not None]


def _first_id(at: Instant) -> bytes:
    return identifiers.make_request_id(max(at, 0), 0, 0)


def _by_id(call: CompatCall, groups: Sequence[_Group]) -> dict[str, Any]:
    return {format_group_id(each.first.group_id): _describe(call, each, call.now) for each in groups}


def _describe(call: CompatCall, group: _Group, now: Instant) -> dict[str, Any]:
    """Return a group with every field that Solapi's clients check."""
    first, counts, zone = group.first, group.counts, call.context.policy.zone
    created = dates.format_iso(group.created_at, zone)
    status = group.status(now)
    accepted = first.total - first.refused
    if not accepted:
        status = "FAILED"
    is_scheduled = status == "SCHEDULED"
    return {
        "count": {
            "total": first.total,
            "sentTotal": counts.completed + counts.failed + counts.cancelled,
            "sentFailed": counts.failed + counts.cancelled,
            "sentSuccess": counts.completed,
            "sentPending": counts.waiting + counts.sending,
            "sentReplacement": counts.replacements,
            "refund": 0,
            "registeredFailed": first.refused,
            "registeredSuccess": accepted,
        },
        "countForCharge": {name: {} for name in CHARGED_TYPES},
        "balance": _NO_MONEY,
        "point": _NO_MONEY,
        "app": {"profit": dict.fromkeys(CHARGED_TYPES, 0), "appId": None, "version": None},
        "sdkVersion": None,
        "osPlatform": None,
        "log": [],
        "status": status,
        "scheduledDate": dates.format_iso(group.scheduled_at, zone) if is_scheduled else None,
        "dateSent": None if is_scheduled else created,
        "dateCompleted": None,
        "isRefunded": False,
        "flagUpdated": False,
        "masterAccountId": None,
        "allowDuplicates": first.allows_duplicates,
        "groupId": format_group_id(first.group_id),
        "accountId": call.account_name,
        "apiVersion": "4",
        "customFields": {},
        "price": {},
        "dateCreated": created,
        "dateUpdated": created,
    }
