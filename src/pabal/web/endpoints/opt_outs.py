"""The endpoints of opt-outs."""

from typing import Any

from pabal.checks.body.call import ApiCall, read_paging
from pabal.checks.opt_outs import build_opt_out_item, read_phones, read_sender
from pabal.domain.base.codes import Code, Text
from pabal.domain.people import opt_out, phone
from pabal.models import operations
from pabal.models import opt_outs as models
from pabal.service.access.contacts import opt_outs
from pabal.service.access.contacts.opt_outs import NewOptOuts, OptOutEntry, OptOutSource
from pabal.web import envelope
from pabal.web.endpoints.endpoint import FIELD_CODES, Group

_GROUP = Group(Text("수신거부", "Opt-outs"))
_CODES = (*FIELD_CODES, Code.INVALID_PHONE_NUMBER)


async def _add_opt_outs(call: ApiCall) -> dict[str, Any]:
    form = call.form
    phones, sender = read_phones(form), read_sender(form)
    reason = form.read_optional("reason", opt_out.check_reason)
    form.raise_problems()
    entries = [OptOutEntry(each, sender, reason) for each in phones]
    added = await opt_outs.add(
        call.context, NewOptOuts(call.account_id, entries, OptOutSource.API), call.audit_entry
    )
    return {"item": models.AddedOptOutsItem(len(phones), added)}


async def _remove_opt_outs(call: ApiCall) -> dict[str, Any]:
    phones, sender = read_phones(call.form), read_sender(call.form)
    call.form.raise_problems()
    removed = await opt_outs.remove(call.context, call.account_id, phones, sender, call.audit_entry)
    return {"item": models.RemovedOptOutsItem(len(phones), removed)}


async def _list_opt_outs(call: ApiCall) -> dict[str, Any]:
    form = call.form
    number = form.read_optional("phoneNumber", phone.parse_mobile)
    sender = form.read_optional("senderNumber", phone.parse_sender)
    page, page_size = read_paging(form)
    form.raise_problems()
    total, found = await opt_outs.find(call.context, call.account_id, number, sender, page, page_size)
    items = [build_opt_out_item(each, call.locale) for each in found]
    return envelope.page_fields(total, page, page_size, items)


ENDPOINTS = (
    _GROUP.endpoint(
        operations.ADD_OPT_OUTS,
        _add_opt_outs,
        "manage",
        Text("광고를 원하지 않는 수신자 등록", "Add receivers who want no advertising"),
        *_CODES,
    ),
    _GROUP.endpoint(
        operations.REMOVE_OPT_OUTS,
        _remove_opt_outs,
        "manage",
        Text("광고를 다시 받는 수신자 삭제", "Remove receivers who accept advertising again"),
        *_CODES,
    ),
    _GROUP.endpoint(
        operations.LIST_OPT_OUTS,
        _list_opt_outs,
        "read",
        Text("계정의 수신거부를 최신순으로 조회", "List the account's opt-outs, newest first"),
        *_CODES[1:],
    ),
)
