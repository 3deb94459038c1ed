"""Runs the fake Solapi on a port, with a channel and a template, until it is stopped."""

import argparse

from tests.fakes.relay_server import command_parser, print_and_wait, run_until_stopped
from tests.fakes.solapi.server import FakeSolapi, serving

CHANNEL, TEMPLATE, CONTENT = "@pabal", "welcome", "#{name}님, 환영합니다."
NUMBER = "15880000"


def _parse_arguments() -> argparse.Namespace:
    parser = command_parser("solapi", __doc__, 7081)
    parser.add_argument("--secret", default="documented-secret", help="secret of the webhooks")
    return parser.parse_args()


def _greeting(relay: FakeSolapi, channel_id: str, secret: str | None) -> str:
    hook = f'webhook_secret = "{secret}"\n' if secret else ""
    return f"""
솔라피 문서대로 답하는 서버: {relay.address}/ (끝내려면 Ctrl-C)

발신 번호 {", ".join(sorted(relay.numbers))}
연동된 채널 {CHANNEL}, 발신 키 {channel_id}, 승인된 템플릿 {TEMPLATE}: {CONTENT}

[carriers.solapi]
kind = "solapi"
api_key = "{relay.api_key}"
api_secret = "{relay.api_secret}"
address = "{relay.address}"
{hook}"""


async def _run(arguments: argparse.Namespace) -> None:
    review_after_s = None if arguments.review_after < 0 else arguments.review_after
    async with serving(
        arguments.port, receipt_after_s=arguments.receipt_after, review_after_s=review_after_s
    ) as relay:
        relay.numbers |= {NUMBER, *(number.replace("-", "") for number in arguments.number)}
        channel = relay.add_channel(CHANNEL)
        relay.add_template(channel.channel_id, f"[{TEMPLATE}] 환영", CONTENT)
        if arguments.webhook:
            relay.webhooks.set(arguments.webhook, arguments.secret)
        secret = arguments.secret if arguments.webhook else None
        await print_and_wait(_greeting(relay, channel.channel_id, secret))


if __name__ == "__main__":
    run_until_stopped(_run(_parse_arguments()))
