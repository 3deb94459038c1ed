"""Send requests: what all messages of one send share."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from pabal.domain.base import identifiers
from pabal.domain.base.dates import Instant
from pabal.domain.brand.message import BrandMessage, decode_brand, encode_brand
from pabal.domain.content.button import Button, decode_buttons, encode_buttons
from pabal.domain.kakao.template_parts import NO_PARTS, TemplateParts, decode_parts, encode_parts
from pabal.domain.sends.message import PRODUCT_BY_NUMBER, Product
from pabal.domain.sends.sending import Sending
from pabal.store.engine.base import Row, Tx
from pabal.store.rows import read_rows, reader

_decode_names = msgspec.json.Decoder(tuple[str, ...]).decode


class Request(NamedTuple):
    """A stored send request."""

    id: bytes
    account_id: int
    product: Product
    total: int
    scheduled_at: Instant
    sender: str
    subject: str | None
    content: str
    variables: tuple[str, ...]
    buttons: tuple[Button, ...]
    images: int
    """How many images it has."""
    image_link: str | None
    is_ad: bool
    fallback_sender: str | None
    fallback_content: str | None
    profile_id: int | None
    channel_id: str | None
    sender_key: str | None
    template_code: str | None
    expire_minutes: int | None = None
    """The lifetime that its caller gave; None: the default of its product."""
    expires_at: Instant | None = None
    """Its deadline, where it had to be stored; None: it follows from the scheduled time and the lifetime."""
    reserved: str | None = None
    """What was reserved for each message, as `price.encode_amounts` writes it; None: only the first price was."""
    brand: BrandMessage | None = None
    """What a brand message has besides, and friend talk that is delivered as one."""
    opt_out_number: str | None = None
    parts: TemplateParts = NO_PARTS
    """What its template has beside the text."""
    is_code: bool = False
    """Whether its messages are one-time codes."""

    @property
    def is_delivered_as_brand(self) -> bool:
        """Whether it is friend talk that goes out as a brand message."""
        return self.brand is not None and self.product is not Product.BRAND_MESSAGE


_COLUMNS = ", ".join(Request._fields).replace("images", "has_image")
_from_row = reader(
    Request,
    product=PRODUCT_BY_NUMBER.__getitem__,
    variables=lambda names: _decode_names(names) if names else (),
    buttons=decode_buttons,
    is_ad=bool,
    brand=decode_brand,
    parts=decode_parts,
    is_code=bool,
)


class RequestRow(NamedTuple):
    """A new request; its profile's channel and sender key are added when it is stored."""

    id: bytes
    slot: int
    account_id: int
    product: int
    total: int
    scheduled_at: Instant
    sender: str
    subject: str | None
    content: str
    variables: str | None
    buttons: str | None
    has_image: int
    image_link: str | None
    is_ad: int
    fallback_sender: str | None
    fallback_content: str | None
    profile_id: int | None
    template_code: str | None
    expire_minutes: int | None
    brand: str | None
    opt_out_number: str | None
    parts: str | None
    key_id: int | None
    user_id: int | None
    reserved: str
    is_code: int
    expires_at: Instant | None = None
    """Its deadline, where the deadline sweep would overlook its jobs."""


def build_row(
    request_id: bytes,
    account_id: int,
    sending: Sending,
    scheduled_at: Instant,
    key_id: int | None = None,
    user_id: int | None = None,
    expires_at: Instant | None = None,
    reserved: str = "",
) -> RequestRow:
    """Return the row of a request; built before the transaction, because others wait for that."""
    fallback = sending.fallback
    return RequestRow(
        request_id,
        identifiers.slot_of(request_id),
        account_id,
        sending.product.number,
        len(sending.receivers),
        scheduled_at,
        sending.sender,
        sending.subject,
        sending.content,
        msgspec.json.encode(sending.variables).decode() if sending.variables else None,
        encode_buttons(sending.buttons),
        len(sending.images),
        sending.image_link,
        int(sending.is_ad),
        fallback.sender if fallback else None,
        fallback.content if fallback else None,
        sending.profile_id,
        sending.template_code,
        sending.expire_minutes,
        encode_brand(sending.brand),
        sending.opt_out_number,
        encode_parts(sending.parts),
        key_id,
        user_id,
        reserved,
        int(sending.is_code),
        expires_at,
    )


_NEW_COLUMNS = ", ".join(RequestRow._fields)
_MAYBE_ALL_NULL = ("profile_id", "expire_minutes", "key_id", "user_id", "expires_at")
"""Numbers whose type PostgreSQL cannot see where all rows of a statement have none."""
_NEW_VALUES = ", ".join(
    f"v.{name}{{as_big}}" if name in _MAYBE_ALL_NULL else f"v.{name}" for name in RequestRow._fields
)


def add_all(tx: Tx, rows: Iterable[RequestRow]) -> None:
    """Store requests, each with the channel and the sender key that its profile has now."""
    if tx.is_distributed:
        return _add_to_nodes(tx, list(rows))
    tx.execute_many(
        f"insert into requests ({_NEW_COLUMNS}, channel_id, sender_key)"
        f" select {_NEW_VALUES}, p.channel_id, p.sender_key from (values {{rows}}) as v({_NEW_COLUMNS})"
        " left join profiles p on p.id = v.profile_id{as_big}",
        rows,
    )


def _add_to_nodes(tx: Tx, rows: Sequence[RequestRow]) -> None:
    """Do so where profiles are not on the nodes of the requests: what the rows need of them is read first."""
    named = {row.profile_id for row in rows if row.profile_id is not None}
    found = tx.execute_list("select id, channel_id, sender_key from profiles where id in ({list})", sorted(named))
    places = {one: (channel_id, sender_key) for one, channel_id, sender_key in found}
    tx.execute_many(
        f"insert into requests ({_NEW_COLUMNS}, channel_id, sender_key)"
        f" select {_NEW_VALUES}, v.channel_id, v.sender_key"
        f" from (values {{rows}}) as v({_NEW_COLUMNS}, channel_id, sender_key)",
        [(*row, *places.get(row.profile_id, (None, None))) for row in rows],
    )


def get(tx: Tx, request_ids: Iterable[bytes]) -> dict[bytes, Request]:
    """Return the requests of these ids that exist and can be read."""
    return read_rows(_read(tx, _COLUMNS, request_ids), _from_row)


def account_ids(tx: Tx, request_ids: Iterable[bytes]) -> dict[bytes, int]:
    """Return the account of each request that exists."""
    return dict(_read(tx, "id, account_id", request_ids))


def find_owners(tx: Tx, request_ids: Iterable[bytes]) -> dict[bytes, tuple[int, bool]]:
    """Return the account of each request that exists, and whether its messages are one-time codes."""
    return {row[0]: (row[1], bool(row[2])) for row in _read(tx, "id, account_id, is_code", request_ids)}


def existing_ids(tx: Tx, request_ids: Iterable[bytes]) -> set[bytes]:
    return {row[0] for row in _read(tx, "id", request_ids)}


def get_totals(tx: Tx, request_ids: Iterable[bytes]) -> dict[bytes, int]:
    """Return how many receivers these requests have, also those that cannot be read."""
    return dict(_read(tx, "id, total", request_ids))


def _read(tx: Tx, columns: str, request_ids: Iterable[bytes]) -> list[Row]:
    return tx.execute_list(
        f"select {columns} from requests where id in ({{list}}) and id {{within}} and slot {{same_slot}}",
        request_ids,
    )


def reschedule(tx: Tx, request_id: bytes, scheduled_at: Instant) -> None:
    """Change the time of a request; its deadline follows from it again."""
    tx.execute(
        "update requests set scheduled_at = ?, expires_at = null where id = ? and slot = ?",
        (scheduled_at, request_id, identifiers.slot_of(request_id)),
    )


def list_by_account(
    tx: Tx, account_id: int, before: bytes, since: bytes, limit: int
) -> tuple[list[bytes], dict[bytes, Request]]:
    """Return the ids of an account's requests between two ids, newest first, and those that can be read by id."""
    rows = tx.fetch_all(
        f"select {_COLUMNS} from requests where account_id = ? and id < ? and id >= ? order by id desc limit ?",
        (account_id, before, since, limit),
    )
    return [row[0] for row in rows], read_rows(rows, _from_row)


def list_by_profile(
    tx: Tx, profile_id: int, after: tuple[Instant, bytes], limit: int
) -> list[tuple[Instant, bytes, int]]:
    """Return time, id and account of a profile's requests scheduled after a time and id, soonest first."""
    return tx.fetch_all(
        "select scheduled_at, id, account_id from requests"
        " where profile_id = ? and (scheduled_at, id) > (?, ?) order by scheduled_at, id limit ?",
        (profile_id, *after, limit),
    )


def ids_between(tx: Tx, after: bytes, before: bytes, limit: int) -> list[bytes]:
    """Return the ids of requests between two ids, oldest first."""
    return tx.fetch_values(
        "select id from requests where id > ? and id < ? order by id limit ?", (after, before, limit)
    )
