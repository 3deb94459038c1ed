"""The Solapi carrier: submits messages in large calls, looks up those in doubt, and reads opt-outs."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence

import msgspec

from pabal.carriers.base import NotSent, OnReceipts, OnVerdicts, ProfileProvider, ReadBody, RelayNumber, RelayOptOut
from pabal.carriers.relay.call_queue import CallQueue
from pabal.carriers.relay.carrier import NOT_CONNECTED_YET, Dependencies, OptOutList, RelayCarrier
from pabal.carriers.relay.kakao import as_sent
from pabal.carriers.relay.refusals import Notices
from pabal.carriers.relay.submission import Submission, UnansweredMessages
from pabal.carriers.solapi.calls import MAX_MESSAGES, group_into_calls, limits_of
from pabal.carriers.solapi.client import SolapiClient, SolapiConnection, format_date
from pabal.carriers.solapi.lookup import SolapiResolver, SolapiResults
from pabal.carriers.solapi.provider import SolapiProvider
from pabal.carriers.solapi.sender import Preparation, SolapiSender
from pabal.domain.base.codes import Refused
from pabal.domain.base.dates import Instant
from pabal.domain.content.image import ImageLimits
from pabal.domain.people import phone
from pabal.domain.sends.message import Attempt, Product
from pabal.settings.relays import SolapiSettings

LIST_PATH = "/iam/v1/black"
LIST_TYPE = "DENIAL"
"""The only type of entries in the client's own source: those by the 080 number."""
PAGE_SIZE = 500


class DeniedSender(msgspec.Struct):
    """A receiver who wants no more texts from a sender number."""

    senderNumber: str
    recipientNumber: str


class DeniedPage(msgspec.Struct):
    """A page of the list."""

    blackList: list[DeniedSender]
    nextKey: str | None = None


class DenialList(OptOutList):
    """The list of those who have opted out; there is no call to change it."""

    name = "080 opt-outs"

    def __init__(self, client: SolapiClient, timeout_s: float) -> None:
        self._client = client
        self._timeout_s = timeout_s

    @property
    def server_time(self) -> Instant | None:
        return self._client.server_time

    async def pages(self, since: Instant | None) -> AsyncIterator[Sequence[RelayOptOut]]:
        query: dict[str, str | int] = {"type": LIST_TYPE, "limit": PAGE_SIZE}
        if since is not None:
            query["dateCreated[gte]"] = format_date(since)
        async for page in self._client.pages(LIST_PATH, DeniedPage, query, lambda: self._timeout_s):
            yield _parse(page.blackList)


def _parse(rows: Sequence[DeniedSender]) -> list[RelayOptOut]:
    """Return the opt-outs in rows, but for numbers that cannot be ours, or of which digits are hidden."""
    found: list[RelayOptOut] = []
    for row in rows:
        try:
            receiver, sender = phone.parse_mobile(row.recipientNumber), phone.parse_sender(row.senderNumber)
        except Refused:
            continue
        found.append(RelayOptOut(receiver, sender=sender))
    if len(found) < len(rows):
        log.warning(
            "the relay reports opt-outs with numbers that cannot be read; they are ignored",
            extra={"count": len(rows) - len(found)},
        )
    return found


NUMBERS_PATH = "/senderid/v1/numbers/active"

log = logging.getLogger("pabal.solapi")


class SolapiCarrier(RelayCarrier):
    batch_size = campaign_batch_size = MAX_MESSAGES

    def __init__(
        self,
        settings: SolapiSettings,
        dependencies: Dependencies,
        client: SolapiClient,
        provider: ProfileProvider | None = None,
    ) -> None:
        has_texts = any(product.is_text for product in settings.products)
        denials = DenialList(client, settings.timeout_seconds) if has_texts else None
        super().__init__(settings, dependencies, provider, denials, log)
        world = dependencies.world
        self.has_webhooks = bool(settings.webhook_secret)
        self.sends_friend_talk_as_brand = settings.sends_friend_talk_as_brand
        self._client = client
        self._timeout_s = settings.timeout_seconds
        self._problem = NOT_CONNECTED_YET
        self._notices = Notices(world)
        connection = SolapiConnection(
            client, settings.timeout_seconds, world, UnansweredMessages(world), self._set_problem
        )
        self._preparation = Preparation(connection, dependencies.load_images)
        self._sender = SolapiSender(
            connection,
            CallQueue(settings.calls, world),
            self._pacer,
            self._preparation,
            self._notices,
            dependencies.on_anomaly,
        )
        self._resolver = SolapiResolver(
            connection, resends=settings.on_doubt == "resend", doubt_s=settings.doubt_seconds
        )
        self._results = SolapiResults(settings, connection, dependencies.cursor)
        self._poller = self._results.poller

    @property
    def is_connected(self) -> bool:
        return not self._problem

    @property
    def problem(self) -> str:
        found = (self._problem, *self._poller.read_problems.values(), *self._notices.shown.values())
        return "; ".join(filter(None, found))

    def image_limits(self, product: Product) -> ImageLimits:
        return limits_of(product)

    async def submit(self, attempts: Sequence[Attempt], on_verdicts: OnVerdicts) -> None:
        submission = self._begin(attempts, on_verdicts)
        if not self.is_connected:
            submission.report_all(attempts, NotSent())
            return
        attempts = [as_sent(each, is_friend_talk_brand=True) for each in attempts]
        new = [each for each in attempts if not each.is_in_doubt]
        in_doubt = [each for each in attempts if each.is_in_doubt]
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._send(new, submission))
            if in_doubt:
                tasks.create_task(self._resolve(in_doubt, submission))

    async def _send(self, attempts: Sequence[Attempt], submission: Submission) -> None:
        calls = group_into_calls(await self._preparation.prepare(attempts, submission))
        async with asyncio.TaskGroup() as tasks:
            for call in calls:
                tasks.create_task(self._sender.send(call, submission))

    async def _resolve(self, attempts: Sequence[Attempt], submission: Submission) -> None:
        """Look up messages in doubt, and submit those that are to be sent again."""
        missing = await self._resolver.resolve(attempts, submission)
        if missing:
            await self._send(missing, submission)

    async def handle_webhook(
        self, headers: Mapping[str, str], read_body: ReadBody, on_receipts: OnReceipts
    ) -> None:
        await self._results.handle_webhook(headers, read_body, on_receipts)

    async def list_sender_numbers(self) -> Sequence[RelayNumber] | None:
        """solapi/documents (2020), getactivatedsenderids.md: "사용할 수 있는 발신번호 목록을 가져옵니다"."""
        numbers = await self._client.request("GET", NUMBERS_PATH, list[str], timeout_s=self._timeout_s)
        return [RelayNumber(each.replace("-", "")) for each in numbers]

    async def close(self) -> None:
        await self._client.close()

    def _set_problem(self, problem: str) -> None:
        self._problem = problem


def build(settings: SolapiSettings, dependencies: Dependencies) -> SolapiCarrier:
    """Return the carrier that the settings describe.

    Raises BadSetting.
    """
    client = SolapiClient(
        settings.address,
        settings.api_key,
        settings.api_secret,
        dependencies.world,
        settings.tls_ca,
        on_answer=dependencies.on_answer,
    )
    has_channels = any(not product.is_text for product in settings.products)
    provider = SolapiProvider(client, settings.timeout_seconds) if has_channels else None
    return SolapiCarrier(settings, dependencies, client, provider)
