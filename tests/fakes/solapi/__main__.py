"""Runs the fake Solapi on a port, with a channel and a template, until it is stopped."""

import argparse
import asyncio
import gc
import signal

from tests.fakes.solapi.server import FakeSolapiServer, serving

CHANNEL, TEMPLATE, CONTENT = "@pabal", "welcome", "#{name}님, 환영합니다."
NUMBER = "15880000"
GC_THRESHOLD = 200_000
"""The server stores every message, so garbage collection frees little."""


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fakes.solapi", description=__doc__)
    parser.add_argument("--port", type=int, default=7081, help="port on 127.0.0.1; 0: any free port")
    parser.add_argument("--number", action="append", default=[], help="additional sender number; may be repeated")
    parser.add_argument("--receipt-after", type=float, default=0.3, help="seconds until a result is known")
    parser.add_argument("--review-after", type=float, default=10, help="seconds that a review takes")
    parser.add_argument("--webhook", help="address that results are posted to")
    parser.add_argument("--secret", default="documented-secret", help="secret of the webhooks")
    return parser.parse_args()


def _greeting(relay: FakeSolapiServer, channel_id: str, secret: str | None) -> str:
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
    async with serving(
        arguments.port, receipt_after_s=arguments.receipt_after, review_after_s=arguments.review_after
    ) as relay:
        relay.numbers |= {NUMBER, *(number.replace("-", "") for number in arguments.number)}
        channel = relay.add_channel(CHANNEL)
        relay.add_template(channel.channel_id, f"[{TEMPLATE}] 환영", CONTENT)
        if arguments.webhook:
            relay.webhooks.set(arguments.webhook, arguments.secret)
        secret = arguments.secret if arguments.webhook else None
        print(_greeting(relay, channel.channel_id, secret), flush=True)
        stopped = asyncio.Event()
        for signal_number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(signal_number, stopped.set)
        await stopped.wait()


def main() -> None:
    """Run until SIGINT or SIGTERM."""
    arguments = _parse_arguments()
    gc.set_threshold(GC_THRESHOLD, 20, 100)
    asyncio.run(_run(arguments))


if __name__ == "__main__":
    main()
