"""The endpoints of webhooks."""

from typing import Any

from pabal.checks import webhooks as checks
from pabal.checks.body.call import ApiCall, read_paging
from pabal.domain.base.codes import Code, Refused, Text
from pabal.domain.events.event import format_cursor
from pabal.models import operations
from pabal.models import webhooks as models
from pabal.service.webhooks import manage, tries
from pabal.service.webhooks.fan_out import read_posts
from pabal.web import envelope
from pabal.web.endpoints.endpoint import FIELD_CODES, Group

_GROUP = Group(Text("웹훅", "Webhooks"))
_ID_CODES = (*FIELD_CODES, Code.WEBHOOK_NOT_FOUND)


async def _create_webhook(call: ApiCall) -> dict[str, Any]:
    fields = checks.read_new_fields(call.form)
    made = await manage.create(call.context, call.account_id, fields, call.make_audit_entry("webhook.create"))
    return {"item": models.NewWebhookItem(str(made.webhook_id), made.secret)}


async def _update_webhook(call: ApiCall) -> dict[str, Any]:
    webhook_id, fields = checks.read_changes(call.form)
    entry = call.make_audit_entry("webhook.update", str(webhook_id))
    changed, secret = await manage.update(call.context, call.account_id, webhook_id, fields, entry)
    return {"item": checks.build_webhook_item(changed, call.locale, secret)}


async def _delete_webhook(call: ApiCall) -> dict[str, Any]:
    webhook_id = checks.read_id(call.form)
    entry = call.make_audit_entry("webhook.delete", str(webhook_id))
    await manage.delete(call.context, call.account_id, webhook_id, entry)
    return {}


async def _send_test(call: ApiCall) -> dict[str, Any]:
    result = await tries.send_test(call.context, call.account_id, checks.read_id(call.form))
    return {"item": checks.build_test_item(result)}


async def _replay_webhook(call: ApiCall) -> dict[str, Any]:
    webhook_id, since = checks.read_replay(call)
    entry = call.make_audit_entry("webhook.replay", str(webhook_id))
    await manage.replay(call.context, call.account_id, webhook_id, since, entry)
    return {}


async def _list_webhooks(call: ApiCall) -> dict[str, Any]:
    found = await manage.list_all(call.context, call.account_id)
    return envelope.list_fields([checks.build_webhook_item(each, call.locale) for each in found])


async def _list_deliveries(call: ApiCall) -> dict[str, Any]:
    page, page_size = read_paging(call.form)
    webhook_id = checks.read_id(call.form)
    total, found = await call.context.store.read(
        manage.list_deliveries, call.account_id, webhook_id, page, page_size
    )
    items = [checks.build_delivery_item(each, call.locale) for each in found]
    return envelope.page_fields(total, page, page_size, items)


async def _list_events(call: ApiCall) -> dict[str, Any]:
    page = await read_posts(call.context, call.account_id, checks.read_begin(call))
    if page is None:
        raise Refused(Code.INVALID_PARAMETER, "cursor", checks.EXPIRED_CURSOR)
    items = [checks.build_unsigned_post(each) for each in page.posts]
    return envelope.followed_fields(models.EventsItem(nextCursor=format_cursor(page.positions)), items)


ENDPOINTS = (
    _GROUP.endpoint(
        operations.CREATE_WEBHOOK,
        _create_webhook,
        "manage",
        "웹훅 만들기. 비밀 키는 이 응답에서만 보여 줍니다",
        "Create a webhook; its secret is shown only in this answer",
        *FIELD_CODES,
        Code.INVALID_STATE,
    ),
    _GROUP.endpoint(
        operations.UPDATE_WEBHOOK,
        _update_webhook,
        "manage",
        "웹훅 변경, 사용과 사용 중지, 비밀 키 교체",
        "Change a webhook, enable or disable it, or rotate its secret",
        *_ID_CODES,
    ),
    _GROUP.endpoint(
        operations.DELETE_WEBHOOK,
        _delete_webhook,
        "manage",
        "전달되지 않은 모든 것과 함께 웹훅 삭제",
        "Delete a webhook with everything that was not delivered to it",
        *_ID_CODES,
    ),
    _GROUP.endpoint(
        operations.TEST_WEBHOOK,
        _send_test,
        "manage",
        "`webhook.test` 이벤트를 보내고 무엇이 돌아왔는지 응답",
        "Deliver a `webhook.test` event, and answer with what came back",
        *_ID_CODES,
    ),
    _GROUP.endpoint(
        operations.REPLAY_WEBHOOK,
        _replay_webhook,
        "manage",
        "최근 며칠의 이벤트를 새 webhook-id와 같은 이벤트 ID로 다시 보내기",
        "Deliver events of the last days again, with new webhook ids and the same event ids",
        *_ID_CODES,
        Code.INVALID_DATE,
        Code.INVALID_STATE,
    ),
    _GROUP.endpoint(
        operations.LIST_WEBHOOKS,
        _list_webhooks,
        "manage",
        "계정의 웹훅을 오래된 것부터 조회",
        "List the account's webhooks, oldest first",
    ),
    _GROUP.endpoint(
        operations.LIST_WEBHOOK_DELIVERIES,
        _list_deliveries,
        "manage",
        "웹훅의 최근 전송 시도를 최신순으로 조회",
        "List recent tries of a webhook's deliveries, newest first",
        *_ID_CODES,
    ),
    _GROUP.endpoint(
        operations.LIST_EVENTS,
        _list_events,
        "read",
        "웹훅이 받을 전송을 서명 없이 조회. 개발할 때 `pabal webhook listen`이 씁니다",
        "List what webhooks would be told, without signatures; `pabal webhook listen` uses it for development",
        Code.UNSUPPORTED_CHARACTER,
        Code.INVALID_DATE,
    ),
)
