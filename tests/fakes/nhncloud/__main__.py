"""The command `python -m tests.fakes.nhncloud`: runs the fake NHN Cloud for people and benchmarks."""

import argparse

from tests.fakes.nhncloud.server import FakeNhnCloud, serving
from tests.fakes.relay_server import command_parser, print_and_wait, run_until_stopped

CHANNEL = "@pabal"
TEMPLATE = "welcome"
CONTENT = "#{이름}님, 가입해 주셔서 고맙습니다."


def _parse_arguments() -> argparse.Namespace:
    parser = command_parser("nhncloud", __doc__, 7080)
    parser.add_argument("--signature", default="documented-signature", help="signature of the webhooks")
    return parser.parse_args()


def _greeting(relay: FakeNhnCloud, sender_key: str, signature: str | None) -> str:
    hook = f'webhook_signature = "{signature}"\n' if signature else ""
    return f"""
NHN Cloud 문서대로 답하는 서버: {relay.address}/ (브라우저로 열어 보세요. 끝내려면 Ctrl-C)

SMS 앱키 {relay.sms_app_key}, 시크릿 키 {relay.sms_secret_key}, 발신 번호 {", ".join(relay.numbers)}
KakaoTalk Bizmessage 앱키 {relay.talk_app_key}, 시크릿 키 {relay.talk_secret_key}
등록된 발신 프로필 {CHANNEL}, 발신 키 {sender_key}, 승인된 템플릿 {TEMPLATE}: {CONTENT}

[carriers.relay]
kind = "nhncloud"
sms_app_key = "{relay.sms_app_key}"
sms_secret_key = "{relay.sms_secret_key}"
talk_app_key = "{relay.talk_app_key}"
talk_secret_key = "{relay.talk_secret_key}"
sms_address = "{relay.address}"
talk_address = "{relay.address}"
{hook}"""


async def _run(arguments: argparse.Namespace) -> None:
    review_after_s = None if arguments.review_after < 0 else arguments.review_after
    async with serving(
        arguments.port, receipt_after_s=arguments.receipt_after, review_after_s=review_after_s
    ) as relay:
        for number in arguments.number:
            relay.add_number(number.replace("-", ""))
        profile = relay.add_profile(CHANNEL)
        relay.add_template(profile.sender_key, TEMPLATE, CONTENT)
        if arguments.webhook:
            relay.webhooks.set(arguments.webhook, arguments.signature)
        signature = arguments.signature if arguments.webhook else None
        await print_and_wait(_greeting(relay, profile.sender_key, signature))


if __name__ == "__main__":
    run_until_stopped(_run(_parse_arguments()))
