"""The endpoints about recipients: their opt-outs, and what is stored about a phone number."""

from typing import Any

from pabal.answers.message_records import build_message_items
from pabal.answers.personal_data import build_personal_data_item
from pabal.checks.body.call import ApiCall, read_paging
from pabal.checks.opt_outs import build_opt_out_item, read_phones, read_sender
from pabal.domain.base.codes import Code, Text
from pabal.domain.people import opt_out, phone
from pabal.models import operations
from pabal.models import opt_outs as models
from pabal.models.opt_outs import ErasureItem
from pabal.service.access.contacts import opt_outs
from pabal.service.access.contacts.opt_outs import NewOptOuts, OptOutEntry, OptOutSource
from pabal.service.history import history
from pabal.service.upkeep import privacy
from pabal.store.accounts import audit_log
from pabal.store.accounts.audit_log import API_KEY_NAME, AuditEntry
from pabal.store.messages.history import MessageFilter
from pabal.web import envelope
from pabal.web.endpoints.endpoint import FIELD_CODES, Group

_OPT_OUTS = Group(Text("수신거부", "Opt-outs"))
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


OPT_OUT_ENDPOINTS = (
    _OPT_OUTS.endpoint(
        operations.ADD_OPT_OUTS,
        _add_opt_outs,
        "manage",
        Text("광고를 원하지 않는 수신자 등록", "Add receivers who want no advertising"),
        *_CODES,
    ),
    _OPT_OUTS.endpoint(
        operations.REMOVE_OPT_OUTS,
        _remove_opt_outs,
        "manage",
        Text("광고를 다시 받는 수신자 삭제", "Remove receivers who accept advertising again"),
        *_CODES,
    ),
    _OPT_OUTS.endpoint(
        operations.LIST_OPT_OUTS,
        _list_opt_outs,
        "read",
        Text("계정의 수신거부를 최신순으로 조회", "List the account's opt-outs, newest first"),
        *_CODES[1:],
    ),
)


async def _export_personal_data(call: ApiCall) -> dict[str, Any]:
    number = call.form.read("phoneNumber", phone.parse_mobile)
    page, page_size = read_paging(call.form)
    call.form.raise_problems()
    context = call.context
    await context.store.write(audit_log.add, _audit_entry(call, privacy.EXPORT_ACTION))
    data = await privacy.export(context.store, context.policy, call.account_id, number)
    message_filter = MessageFilter(call.account_id, receiver=number)
    found = await history.find_messages(context, message_filter, page, page_size)
    items = build_message_items(found, call.locale, context.policy)
    item = build_personal_data_item(number, data, call.locale)
    return {"item": item, **envelope.page_fields(found.total, page, page_size, items)}


async def _erase_personal_data(call: ApiCall) -> dict[str, Any]:
    number = call.form.read("phoneNumber", phone.parse_mobile)
    call.form.raise_problems()
    done = await privacy.erase(call.context, call.account_id, number, _audit_entry(call, privacy.ERASE_ACTION))
    return {"item": ErasureItem(done.erased, done.cancelled, done.pending, done.campaign_rows)}


def _audit_entry(call: ApiCall, action: str) -> AuditEntry:
    """Return the entry of the audit log, which holds no phone number."""
    return call.audit_entry or AuditEntry(call.now, None, API_KEY_NAME, call.account_id, action)


_PRIVACY = Group(Text("개인정보", "Privacy"))
PRIVACY_ENDPOINTS = (
    _PRIVACY.endpoint(
        operations.EXPORT_PERSONAL_DATA,
        _export_personal_data,
        "privacy",
        Text(
            "이 계정이 전화번호에 대해 저장한 것 내보내기",
            "Export what this account has stored about a phone number",
        ),
        *FIELD_CODES,
        Code.INVALID_PHONE_NUMBER,
    ),
    _PRIVACY.endpoint(
        operations.ERASE_PERSONAL_DATA,
        _erase_personal_data,
        "privacy",
        Text(
            "이 계정의 전화번호와 그 번호로 보낸 본문 파기",
            "Erase a phone number of this account and the texts sent to it",
        ),
        *FIELD_CODES,
        Code.INVALID_PHONE_NUMBER,
    ),
)
