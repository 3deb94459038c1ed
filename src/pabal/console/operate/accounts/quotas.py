"""The operators' page of quotas: the limits of accounts, the rates of API keys, and what relays report."""

from starlette.responses import Response

from pabal.console.operate.carriers.status import list_used_up
from pabal.console.shell.form_fields import parse_id
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Text
from pabal.service.access.accounts import account_limits, administration
from pabal.service.upkeep import reports

QUOTAS_PATH = "/console/operate/quotas"
ACCOUNTS_PER_PAGE = 50
SHOWN_KEYS = 50
"""API keys on the page; those of one account are on its own page."""


async def show_quotas(request: PageRequest) -> Response:
    """Show how much of their limits accounts have used, those that are near one first."""
    after = parse_id(request.field("after")) or 0
    found = await account_limits.list_use(request.context, after, ACCOUNTS_PER_PAGE + 1)
    shown = found[:ACCOUNTS_PER_PAGE]
    report = await reports.get_delivery_report(request.context)
    return request.render(
        "operate/accounts/quotas.html",
        rows=[
            (account, use) for account in sorted(shown, key=lambda each: not each.is_near) for use in account.limits
        ],
        keys=await administration.list_recent_keys(request.context, SHOWN_KEYS),
        most_keys=SHOWN_KEYS,
        used_up=list_used_up(request, report.carriers),
        is_first=not after,
        next=f"{QUOTAS_PATH}?after={shown[-1].id}" if len(found) > len(shown) else "",
    )


TEXTS = {
    "operate.part.quotas": Text("한도와 쿼터", "Quotas"),
    "quotas.title": Text("한도와 쿼터", "Quotas"),
    "quotas.accounts": Text("계정의 한도", "Limits of accounts"),
    "quotas.accounts_about": Text(
        "한도에 가까운 계정부터 보여 줍니다. 사용에는 프로세스가 미리 잡아 둔 몫도 들어 있습니다.",
        "Accounts near a limit come first. What processes have reserved ahead counts as used.",
    ),
    "quotas.left": Text("남음", "Remaining"),
    "quotas.near": Text("한도에 가까움", "Near"),
    "quotas.first": Text("처음", "First"),
    "quotas.none": Text(
        "한도가 있는 계정이 없습니다. 한도는 계정마다 정합니다.",
        "No account has limits. They are set at each account.",
    ),
    "quotas.keys": Text("API 키의 호출 속도", "Rates of API keys"),
    "quotas.keys_about": Text(
        "최근에 쓴 키 {count}개까지 보여 줍니다. 속도는 초마다 새로 시작하므로 쓴 양을 세지 않습니다.",
        "Up to {count} keys, those used last first. A rate starts anew each second, so its use is not counted.",
    ),
    "quotas.no_keys": Text(
        "쓸 수 있는 키가 없습니다. 키는 계정 화면에서 발급합니다.",
        "There are no usable keys. They are created at each account.",
    ),
    "quotas.relays": Text("중계사의 쿼터", "Quotas of relays"),
}
