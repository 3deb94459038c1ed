"""The page of an account's API keys, for its owners: last use, rate, new keys if the operator allows it."""

from starlette.responses import Response

from pabal.console.operate.keys import blank_key, find_place, typed_key
from pabal.console.shell.form_fields import parse_id
from pabal.console.shell.page_request import PageRequest
from pabal.domain.base.codes import Refused
from pabal.service.access.accounts import administration
from pabal.service.access.accounts.keys import SCOPES
from pabal.settings.tables import KIND_NAMES


async def show_keys(request: PageRequest, refused: Refused | None = None) -> Response:
    """Show the keys of the account; what is wrong with a form about one of them is said above the list."""
    place = await find_place(request)
    known, _, public_ids = await request.context.store.read(administration.get_members, place.account.id)
    default_rate = request.site.settings.key_rate
    key_id = (parse_id(request.field("key")) or 0) if refused else 0
    errors = request.errors_by_field(refused)
    return request.render(
        "users/keys.html",
        refused,
        keys=known[::-1],
        public_ids=public_ids,
        kinds=(),
        kind_names=KIND_NAMES,
        newest_key=known[-1].id if known else 0,
        key=typed_key(request)
        if refused and not key_id
        else blank_key(min(default_rate, place.max_rate) if place.max_rate else default_rate),
        scopes=SCOPES,
        base="/console",
        may_create=place.may_create,
        errors={} if key_id else errors,
        told=list(errors.values()) if key_id else [],
        key_id=key_id,
    )
