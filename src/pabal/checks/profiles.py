"""Registers and approves sender profiles from the body of a call."""

from pabal.checks.body.call import ApiCall
from pabal.domain.kakao.profile import Profile, Registration, parse_channel_id
from pabal.domain.people import phone
from pabal.service.relay import profiles


async def register_profile(call: ApiCall) -> Profile:
    """Register a channel as a sender profile; its administrator's phone receives a token.

    Raises Refused.
    """
    form = call.form
    category = form.read("category", str)
    channel_id = form.read("channelId", parse_channel_id)
    cellphone = form.read("cellphone", phone.parse_mobile)
    form.raise_problems()
    registration = Registration(channel_id, category, cellphone)
    return await profiles.register(call.context, call.account_id, registration, call.audit_entry)


async def authenticate_profile(call: ApiCall) -> None:
    """Approve a sender profile with the token that its administrator received.

    Raises Refused.
    """
    channel_id = call.form.read("channelId", parse_channel_id)
    token = call.form.read("token", str)
    call.form.raise_problems()
    await profiles.authenticate(call.context, call.account_id, channel_id, token, call.audit_entry)
