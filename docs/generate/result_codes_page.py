"""The reference of results, statuses and kinds of messages."""

from docs.generate.markdown import GENERATED_NOTE, join_lines, make_table
from pabal.domain.message import Outcome, Product, Status

# Outcomes that Pabal decides; all others come from carriers.
OWN_OUTCOMES = {
    Outcome.TIMED_OUT: "The carrier accepted the message, but no receipt arrived in time.",
    Outcome.UNDELIVERABLE: "Also if it has no route, its text cannot be composed, or its profile was deleted.",
    Outcome.UNKNOWN: "The carrier gave no usable answer ten times, and the route has no other carrier.",
    Outcome.NOT_SENDABLE_AS_TEXT: "A fallback whose text does not fit into any text message.",
    Outcome.DUPLICATE: "The same text went to the same number within `duplicate_minutes`: it was not sent.",
    Outcome.EXPIRED: "No carrier took it by its deadline (`expireMinutes`): it was not sent, and has no fallback.",
    Outcome.CARRIER_ERROR: "The carrier was busy ten times, and the route has no other carrier.",
}


def result_codes_page() -> str:
    """Return the reference of the results, statuses and kinds of messages."""
    lines = [
        "# Result codes of messages",
        GENERATED_NOTE,
        "The record of a final message has a `resultCode`. Pabal translates the codes of carriers into these codes",
        "and never passes the originals through. A cancelled message has no result code.",
        "",
        *make_table(
            ("Code", "Status", "Meaning", "뜻", "When Pabal itself decides it"),
            [
                (f"`{one.number}`", f"`{one.status.code}`", one.label.en, one.label.ko, OWN_OUTCOMES.get(one, ""))
                for one in Outcome
            ],
        ),
        "",
        "## Statuses",
        "",
        "`sendingStatus` changes from `waiting` to `sending` to `completed` or `fail`, or from `waiting` to",
        "`cancel`. `completed`, `fail` and `cancel` are final.",
        "",
        *make_table(
            ("Value", "Meaning", "뜻"), [(f"`{one.code}`", one.label.en, one.label.ko) for one in Status]
        ),
        "",
        "## Kinds of message",
        "",
        "Values of `messageProductType`. `email` and `push` are only filters of the history; nothing sends them.",
        "",
        *make_table(
            ("Value", "Meaning", "뜻"), [(f"`{one.code}`", one.label.en, one.label.ko) for one in Product]
        ),
    ]  # fmt: skip
    return join_lines(lines)
