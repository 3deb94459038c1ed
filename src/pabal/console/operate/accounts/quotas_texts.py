"""Texts of the operators' page of quotas."""

from pabal.domain.base.codes import Text

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
    "quotas.next": Text("다음", "Next"),
    "quotas.none": Text("한도가 있는 계정이 없습니다.", "No account has limits."),
    "quotas.keys": Text("API 키의 호출 속도", "Rates of API keys"),
    "quotas.keys_about": Text(
        "최근에 쓴 키 {count}개까지 보여 줍니다. 속도는 초마다 새로 시작하므로 쓴 양을 세지 않습니다.",
        "Up to {count} keys, those used last first. A rate starts anew each second, so its use is not counted.",
    ),
    "quotas.no_keys": Text("쓸 수 있는 키가 없습니다.", "There are no usable keys."),
    "quotas.relays": Text("중계사의 쿼터", "Quotas of relays"),
}
