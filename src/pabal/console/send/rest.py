"""The typed lines that could not be sent to: kept with their message, to be corrected and sent later."""

from dataclasses import replace

from pabal.console.send import kept_draft, typed_receivers
from pabal.console.send.draft import MessageDraft
from pabal.console.send.review import Review
from pabal.console.shell.page_request import PageRequest


def rest_form(sent_id: bytes) -> str:
    """Return the name of the draft with the lines that a request left out."""
    return f"{kept_draft.FORM}.rest.{sent_id.hex()}"


async def keep_rest(request: PageRequest, review: Review, sent_id: bytes) -> None:
    """Keep the lines that a request left out, with its message and without its time."""
    bad = [each.line_number for each in review.invalid_rows]
    if bad:
        draft = review.draft.without_fields("sendDate", "receivers", "resends")
        lines = typed_receivers.pick_lines(review.draft.texts["receivers"], bad)
        draft = replace(
            draft,
            texts={**draft.texts, "receivers": "\n".join(lines)},
            checkboxes={**draft.checkboxes, "later": False},
        )
        await kept_draft.keep_as(request, draft, rest_form(sent_id))


async def count_rest(request: PageRequest, sent_id: bytes) -> int:
    """Return how many lines of a request the user still has to correct."""
    draft = await load_rest(request, sent_id)
    return typed_receivers.count_lines(draft.texts["receivers"]) if draft else 0


async def load_rest(request: PageRequest, sent_id: bytes) -> MessageDraft | None:
    """Return the lines that a request left out, with its message; None: the user has none."""
    draft, _ = await kept_draft.load(request, rest_form(sent_id))
    return draft
