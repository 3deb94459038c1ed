"""The endpoints that export and erase what is stored about one phone number."""

from typing import Any

from pabal.answers.message_records import build_message_items
from pabal.answers.personal_data import build_personal_data_item
from pabal.checks.body.call import ApiCall, read_paging
from pabal.domain.base.codes import Code, Text
from pabal.domain.people import phone
from pabal.models import operations
from pabal.models.opt_outs import ErasureItem
from pabal.service.history import history
from pabal.service.upkeep import privacy
from pabal.store.accounts import audit_log
from pabal.store.accounts.audit_log import API_KEY_NAME, AuditEntry
from pabal.store.messages.history import MessageFilter
from pabal.web import envelope
from pabal.web.endpoints.endpoint import FIELD_CODES, Group


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
ENDPOINTS = (
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
