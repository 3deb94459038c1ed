"""`pabal phone`: what a simulated phone receives, as it arrives."""

import argparse
from collections.abc import Sequence
from threading import Event

from msgspec import UNSET

from pabal.cli.calling.call import Call, ExitStatus, add_call_options
from pabal.cli.shared.options import add_option
from pabal.cli.shared.table import print_json, printable
from pabal.client import ListPhoneMessages
from pabal.domain.base.codes import Text
from pabal.models.lookup import PhoneAnswer, PhoneItem

POLL_INTERVAL_S = 1.0
"""How often a phone is looked at."""
SHOWN = 10
"""Messages that are shown at first."""
PAGE_SIZE = 100
"""Messages that are looked at each time; more in one second are not shown."""
_WATCHING = Text("{number}을(를) 보고 있습니다. Ctrl-C로 끝냅니다.", "Watching {number}. Stop with Ctrl-C.")
_IMAGE = Text("[이미지]", "[image]")


def declare_phone(parser: argparse.ArgumentParser) -> None:
    """Declare `pabal phone`."""
    add_call_options(parser, _watch)
    add_option(
        parser, "number", "번호. 하이픈은 없어도 됩니다", "the number, with or without hyphens", metavar="NUMBER"
    )
    add_option(
        parser,
        "--once",
        "있는 것만 출력하고 기다리지 않습니다",
        "print what it has, and do not wait",
        action="store_true",
    )


def _watch(call: Call) -> int:
    body = ListPhoneMessages(phoneNumber=call.given.number, pageSize=PAGE_SIZE)
    before = call.client.look_at_phone(body)
    _show(call, before.items[:SHOWN])
    if call.given.once:
        return ExitStatus.DONE
    call.report(_WATCHING, number=call.given.number)
    while True:
        Event().wait(POLL_INTERVAL_S)
        now = call.client.look_at_phone(body)
        _show(call, now.items[: count_new(before, now)])
        before = now


def count_new(before: PhoneAnswer, now: PhoneAnswer) -> int:
    """Return how many messages at the beginning of a page have arrived since another; they have no ids."""
    for new in range(max(0, now.totalCount - before.totalCount), len(now.items)):
        rest = now.items[new:]
        if rest[: len(before.items)] == before.items[: len(rest)]:
            return new
    return len(now.items)


def _show(call: Call, newest_first: Sequence[PhoneItem]) -> None:
    for each in reversed(newest_first):
        if call.given.json:
            print_json(each)
        else:
            print("\n".join(_lines(call, each)), flush=True)


def _lines(call: Call, message: PhoneItem) -> list[str]:
    image = f"  {call.t(_IMAGE)}" * (message.images or int(message.image))
    head = f"{message.time}  {message.kind}  {message.sender}{image}"
    text = [*([] if message.subject is UNSET else [message.subject]), *message.content.split("\n")]
    buttons = [f"[{each.name}] {'' if each.mobileUrl is UNSET else each.mobileUrl}" for each in message.buttons]
    return [head, *(f"  {printable(line)}".rstrip() for line in [*text, *buttons])]
