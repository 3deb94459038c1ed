"""The order of the guide's pages, under headings."""

from typing import NamedTuple

from pabal.domain.base.codes import Text


class Chapter(NamedTuple):
    """Pages under one heading."""

    title: Text
    pages: tuple[str, ...]


CHAPTERS = (
    Chapter(Text("시작하기", "Start"), ("index", "tutorial")),
    Chapter(
        Text("메시지 보내기", "Sending messages"),
        (
            "how-to/scheduling-and-cancelling",
            "how-to/look-up-messages",
            "how-to/webhooks",
            "how-to/command-line",
            "how-to/python-client",
            "how-to/other-languages",
            "how-to/error-handling",
            "how-to/idempotency",
            "how-to/dry-run",
            "how-to/sender-profiles",
            "how-to/templates",
            "how-to/brand-messages",
            "how-to/advertising",
            "how-to/opt-outs",
            "how-to/move-from-a-relay",
        ),
    ),
    Chapter(
        Text("발송 경로", "Carriers"),
        (
            "how-to/nhncloud",
            "how-to/solapi",
            "how-to/several-relays",
            "how-to/smpp",
            "how-to/write-a-carrier",
        ),
    ),
    Chapter(
        Text("운영하기", "Operating"),
        (
            "how-to/operate",
            "how-to/console",
            "how-to/keys-and-accounts",
            "how-to/notifications",
            "how-to/monitoring",
            "how-to/incidents",
            "how-to/systemd",
            "how-to/containers",
            "how-to/behind-a-proxy",
            "how-to/backup",
            "how-to/upgrade",
            "how-to/postgresql",
            "how-to/several-processes",
            "how-to/citus",
            "how-to/sizing",
        ),
    ),
    Chapter(
        Text("참조", "Reference"),
        (
            "reference/endpoints",
            "reference/errors",
            "reference/result-codes",
            "reference/settings",
            "reference/simulator",
            "glossary",
            "promises",
            "steps",
            "security",
        ),
    ),
)
