"""The endpoints about recipients: their opt-outs, and what is stored about a phone number."""

from collections.abc import Sequence
from typing import Any

from pabal.answers.message_records import build_message_items
from pabal.answers.personal_data import build_opt_out_item, build_personal_data_item
from pabal.checks.body.call import ApiCall, read_paging
from pabal.checks.body.forms import Form
from pabal.domain.base.codes import MAX_PROBLEMS, Code, Problem, Refused, Text
from pabal.domain.people import opt_out, phone
from pabal.domain.people.opt_out import EVERY_SENDER, MAX_PHONE_NUMBERS
from pabal.models import operations
from pabal.models import opt_outs as models
from pabal.models.opt_outs import ErasureItem
from pabal.service.access.contacts import opt_outs
from pabal.service.access.contacts.opt_outs import NewOptOuts, OptOutEntry, OptOutSource
from pabal.service.history import history
from pabal.service.upkeep import privacy
from pabal.store.accounts import audit_log
from pabal.store.messages.history import MessageFilter
from pabal.web import envelope
from pabal.web.endpoints.endpoint import FIELD_CODES, Group

_OPT_OUTS = Group(Text("수신거부", "Opt-outs"))
_CODES = (*FIELD_CODES, Code.INVALID_PHONE_NUMBER)


async def _add_opt_outs(call: ApiCall) -> dict[str, Any]:
    form = call.form
    phones, sender = _read_phones(form), _read_sender(form)
    reason = form.read_optional("reason", opt_out.check_reason)
    form.raise_problems()
    entries = [OptOutEntry(each, sender, reason) for each in phones]
    added = await opt_outs.add(
        call.context, NewOptOuts(call.account_id, entries, OptOutSource.API), call.audit_entry
    )
    return {"item": models.AddedOptOutsItem(len(phones), added)}


async def _remove_opt_outs(call: ApiCall) -> dict[str, Any]:
    phones, sender = _read_phones(call.form), _read_sender(call.form)
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


_ONE_OF_BOTH = Text("phoneNumber와 phoneNumbers 중 하나만 보내세요.", "Send phoneNumber or phoneNumbers, not both.")


def _read_phones(form: Form[Any]) -> list[str]:
    """Return the numbers of a body; `raise_problems` reports each that is missing or wrong, with its index."""
    one, several = form.body.phoneNumber or None, form.body.phoneNumbers or None
    if one is not None and several is not None:
        form.add(Problem(Code.INVALID_PARAMETER, "phoneNumber", _ONE_OF_BOTH))
        return []
    if several is None:
        return [form.read("phoneNumber", phone.parse_mobile)]
    if len(several) > MAX_PHONE_NUMBERS:
        limit = MAX_PHONE_NUMBERS
        detail = Text(f"최대 {limit:,}개입니다.", f"At most {limit:,}.")
        form.add(Problem(Code.INVALID_PARAMETER, "phoneNumbers", detail))
        return []
    return _parse_each(form, several)


def _read_sender(form: Form[Any]) -> str:
    """Return the sender number of a body, empty where it has none."""
    return (
        form.read_optional("senderNumber", phone.parse_sender) if form.body.senderNumber else None
    ) or EVERY_SENDER


def _parse_each(form: Form[Any], spellings: Sequence[str | None]) -> list[str]:
    """Return the numbers; stop at so many problems as an answer can name."""
    found: list[str] = []
    problems = 0
    for index, spelling in enumerate(spellings):
        field = f"phoneNumbers[{index}]"
        try:
            if not spelling:
                raise Refused(Code.MISSING_PARAMETER)
            found.append(phone.parse_mobile(spelling))
        except Refused as refusal:
            form.add_refusal(refusal, field)
            problems += 1
            if problems >= MAX_PROBLEMS:
                break
    return found


OPT_OUT_ENDPOINTS = (
    _OPT_OUTS.endpoint(
        operations.ADD_OPT_OUTS,
        _add_opt_outs,
        "manage",
        "광고를 원하지 않는 수신자 등록",
        "Add receivers who want no advertising",
        *_CODES,
    ),
    _OPT_OUTS.endpoint(
        operations.REMOVE_OPT_OUTS,
        _remove_opt_outs,
        "manage",
        "광고를 다시 받는 수신자 삭제",
        "Remove receivers who accept advertising again",
        *_CODES,
    ),
    _OPT_OUTS.endpoint(
        operations.LIST_OPT_OUTS,
        _list_opt_outs,
        "read",
        "계정의 수신거부를 최신순으로 조회",
        "List the account's opt-outs, newest first",
        *_CODES[1:],
    ),
)


async def _export_personal_data(call: ApiCall) -> dict[str, Any]:
    number = call.form.read("phoneNumber", phone.parse_mobile)
    page, page_size = read_paging(call.form)
    call.form.raise_problems()
    context = call.context
    await context.store.write(audit_log.add, call.make_audit_entry(privacy.EXPORT_ACTION))
    data = await privacy.export(context.store, context.policy, call.account_id, number)
    message_filter = MessageFilter(call.account_id, receiver=number)
    found = await history.find_messages(context, message_filter, page, page_size)
    items = build_message_items(found, call.locale, context.policy)
    item = build_personal_data_item(number, data, call.locale)
    return {"item": item, **envelope.page_fields(found.total, page, page_size, items)}


async def _erase_personal_data(call: ApiCall) -> dict[str, Any]:
    number = call.form.read("phoneNumber", phone.parse_mobile)
    call.form.raise_problems()
    done = await privacy.erase(call.context, call.account_id, number, call.make_audit_entry(privacy.ERASE_ACTION))
    return {"item": ErasureItem(done.erased, done.cancelled, done.pending, done.campaign_rows)}


_PRIVACY = Group(Text("개인정보", "Privacy"))
PRIVACY_ENDPOINTS = (
    _PRIVACY.endpoint(
        operations.EXPORT_PERSONAL_DATA,
        _export_personal_data,
        "privacy",
        "이 계정이 전화번호에 대해 저장한 것 내보내기",
        "Export what this account has stored about a phone number",
        *FIELD_CODES,
        Code.INVALID_PHONE_NUMBER,
    ),
    _PRIVACY.endpoint(
        operations.ERASE_PERSONAL_DATA,
        _erase_personal_data,
        "privacy",
        "이 계정의 전화번호와 그 번호로 보낸 본문 파기",
        "Erase a phone number of this account and the texts sent to it",
        *FIELD_CODES,
        Code.INVALID_PHONE_NUMBER,
    ),
)
