"""The command `python -m tests.fakes.nhncloud`: runs the fake NHN Cloud for people and benchmarks."""

import argparse
import asyncio
import gc
import signal

from tests.fakes.nhncloud.server import FakeNhnCloudServer, serving

CHANNEL = "@pabal"
TEMPLATE = "welcome"
CONTENT = "#{이름}님, 가입해 주셔서 고맙습니다."
GC_THRESHOLD = 200_000
"""The server stores every message, so garbage collection frees little. A high threshold keeps benchmarks fast."""


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fakes.nhncloud", description=__doc__)
    parser.add_argument("--port", type=int, default=7080, help="port on 127.0.0.1; 0: any free port")
    parser.add_argument("--number", action="append", default=[], help="additional sender number; may be repeated")
    parser.add_argument("--receipt-after", type=float, default=0.3, help="seconds until a result is known")
    parser.add_argument(
        "--review-after", type=float, default=10, help="seconds that a review takes; negative: reviewed by hand"
    )
    parser.add_argument("--webhook", help="address that results and template states are posted to")
    parser.add_argument("--signature", default="documented-signature", help="signature of the webhooks")
    parser.add_argument("--no-nights", action="store_true", help="deliver advertisements at night too")
    return parser.parse_args()


def _greeting(relay: FakeNhnCloudServer, sender_key: str, signature: str | None) -> str:
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
        arguments.port,
        receipt_after_s=arguments.receipt_after,
        review_after_s=review_after_s,
        has_nights=not arguments.no_nights,
    ) as relay:
        for number in arguments.number:
            relay.add_number(number.replace("-", ""))
        profile = relay.add_profile(CHANNEL)
        relay.add_template(profile.sender_key, TEMPLATE, CONTENT)
        if arguments.webhook:
            relay.webhooks.set(arguments.webhook, arguments.signature)
        print(_greeting(relay, profile.sender_key, arguments.signature if arguments.webhook else None), flush=True)
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
