"""Lists the sender numbers of the account."""

from typing import Any

from pabal.compat.nhncloud.call import NhnCall, format_time, page_of
from pabal.domain.people.phone import NumberState
from pabal.store.accounts import numbers


async def list_numbers(call: NhnCall) -> dict[str, Any]:
    """List sender numbers; those that are not approved are not in use."""
    number, size = call.read_page()
    wanted = {name: call.query.get(name) for name in ("sendNo", "useYn", "blockYn")}
    rows = [
        {
            "serviceId": call.account_id,
            "sendNo": each.number,
            "useYn": "Y" if each.state is NumberState.APPROVED else "N",
            "blockYn": "N",
            "blockReason": None,
            "createDate": format_time(each.created_at),
            "createUser": None,
            "updateDate": format_time(each.created_at),
            "updateUser": None,
        }
        for each in await call.context.store.read(numbers.list_by_account, call.account_id)
    ]
    found = [row for row in rows if all(value in (None, "", row[name]) for name, value in wanted.items())]
    page = found[(number - 1) * size : number * size]
    return {"body": page_of(number, size, len(found), page)}
