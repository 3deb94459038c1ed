"""Declares `pabal carrier rehearse`."""

import argparse
from pathlib import Path
from typing import Any

from pabal.cli.shared.options import add_command, add_option
from pabal.settings.settings import Settings

DEFAULT_WAIT_S = 180.0


def declare_rehearse(group: Any) -> None:
    """Declare `pabal carrier rehearse`."""
    parser = add_command(
        group,
        "rehearse",
        _run,
        "종류마다 한 건씩 자기 휴대폰으로 보내 중계사를 점검합니다. 요금이 듭니다.",
        "Try a relay: send one message of each kind to your own phone. It costs money.",
    )
    add_option(parser, "name", "중계사인 발송 경로", "the carrier, a relay")
    add_option(parser, "--to", "받을 휴대폰 번호", "the phone that gets them", required=True, metavar="NUMBER")
    add_option(
        parser,
        "--sender",
        "문자의 발신번호. 중계사에 등록된 번호여야 합니다",
        "sender number of texts, registered at the relay",
        default="",
        metavar="NUMBER",
    )
    add_option(
        parser,
        "--channel",
        "발신 프로필의 채널(기본값: 중계사의 첫 프로필)",
        "channel of the sender profile (default: the relay's first one)",
        default="",
    )
    add_option(
        parser,
        "--template",
        "알림톡 템플릿의 코드(기본값: 승인된 첫 템플릿)",
        "code of the Alimtalk template (default: the first approved one)",
        default="",
        metavar="CODE",
    )
    add_option(
        parser,
        "--image",
        "MMS와 이미지 친구톡의 JPEG 파일",
        "JPEG file for MMS and friend talk with an image",
        type=Path,
        metavar="FILE",
    )
    _declare_following(parser)


def _declare_following(parser: argparse.ArgumentParser) -> None:
    """Declare what is sent, and how it is followed."""
    add_option(
        parser,
        "--only",
        "이 종류만(여러 번 줄 수 있음). 예: sms, alimTalk",
        "only this kind, such as sms or alimTalk; may be repeated",
        action="append",
        metavar="KIND",
    )
    add_option(
        parser,
        "--wait",
        "결과를 기다리는 시간(초, 기본값: 180)",
        "how many seconds to wait for results (default: 180)",
        type=float,
        default=DEFAULT_WAIT_S,
        metavar="SECONDS",
    )
    add_option(
        parser,
        "--port",
        "웹훅을 받을 포트(기본값: 설정의 포트)",
        "port that receives webhooks (default: that of the settings)",
        type=int,
    )
    add_option(parser, "--no-webhook", "웹훅을 받지 않습니다", "do not receive webhooks", action="store_true")
    add_option(parser, "--yes", "묻지 않고 보냅니다", "send without asking", action="store_true")


def _run(settings: Settings, given: argparse.Namespace) -> int:
    from pabal.cli.rehearse.conduct import conduct  # costs other commands 0.3 s

    return conduct(settings, given)
