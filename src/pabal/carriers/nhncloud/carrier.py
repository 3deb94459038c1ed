"""The NHN Cloud carrier: submits messages in large calls, and looks up those in doubt before submitting again."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Coroutine, Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import Any

from pabal.carriers.base import (
    Declined,
    NotSent,
    OnReceipts,
    OnVerdicts,
    ProfileProvider,
    ReadBody,
    RelayNumber,
    TemplateReads,
    Verdict,
)
from pabal.carriers.nhncloud.block_list import BlockList
from pabal.carriers.nhncloud.calls import MAX_RECIPIENTS, ProductEndpoint, endpoint_of, group_into_calls
from pabal.carriers.nhncloud.client import SEOUL, NhnCloudClient, expect_documented_shape
from pabal.carriers.nhncloud.connection import Connection
from pabal.carriers.nhncloud.lookup import InDoubtResolver
from pabal.carriers.nhncloud.provider import NhnCloudProvider
from pabal.carriers.nhncloud.results import ALIMTALK, BRAND, ReadQuery, ResultReader, list_reads
from pabal.carriers.nhncloud.sender import CallSender, ImageUploads, limits_of
from pabal.carriers.nhncloud.templates import fit_friend_talk
from pabal.carriers.relay.call_queue import CallQueue, SharedCalls
from pabal.carriers.relay.carrier import NOT_CONNECTED_YET, Dependencies, RelayCarrier
from pabal.carriers.relay.http import NotProcessed
from pabal.carriers.relay.kakao import as_sent, is_deliverable
from pabal.carriers.relay.submission import Submission, UnansweredMessages
from pabal.domain.base.dates import SECOND
from pabal.domain.content.image import ImageLimits
from pabal.domain.people.opt_out import OptOutChange
from pabal.domain.sends.account import SenderCodes, parse_codes
from pabal.domain.sends.message import Attempt, Outcome, Product
from pabal.settings.relays import NhnCloudSettings

CODES_TTL_S = 5.0
"""How long the codes of accounts are remembered."""
MAX_READ_DAYS = 90
"""KakaoTalk Bizmessage ko/common-api-guide.md, DAILY: "최근 90일 이내 데이터만 조회 가능"."""
READS_TIMEOUT_S = 5.0
"""How long a call may take: a person waits for the page."""
READS_TTL_S = 3600.0
"""The figures change once a day, at about 07:00 in Korea."""

log = logging.getLogger("pabal.nhncloud")


class NhnCloudCarrier(RelayCarrier):
    """NHN Cloud Notification."""

    batch_size = campaign_batch_size = MAX_RECIPIENTS

    def __init__(
        self,
        settings: NhnCloudSettings,
        dependencies: Dependencies,
        sms_client: NhnCloudClient | None,
        talk_client: NhnCloudClient | None,
        provider: ProfileProvider | None = None,
    ) -> None:
        """A client is None if no product uses its API."""
        block_list = BlockList(settings.name, sms_client, settings.timeout_seconds) if sms_client else None
        super().__init__(settings, dependencies, provider, block_list, log)
        world = dependencies.world
        self.has_webhooks = bool(settings.webhook_signature)
        self._block_list = block_list
        self._sms_client = sms_client
        self._profile_client = talk_client
        self._reads = SharedCalls(self._read_reads, READS_TTL_S, world)
        self._timeout_s = settings.timeout_seconds
        self.sends_friend_talk_as_brand = settings.friend_talk == "brand"
        self._own_codes = parse_codes({name: getattr(settings, name) for name in SenderCodes._fields})
        self._codes: SharedCalls[None, Mapping[int, SenderCodes]] = SharedCalls(
            lambda _, timeout_s: dependencies.load_codes(), CODES_TTL_S, world
        )
        self._connection = Connection(sms_client, talk_client, settings.timeout_seconds, world)
        self._results = ResultReader(
            settings, world, dependencies.cursor, sms_client, talk_client, self._connection.problems.__setitem__
        )
        self._poller = self._results.poller
        self._connection.problems |= dict.fromkeys(self._results.services, NOT_CONNECTED_YET)
        unanswered = UnansweredMessages(world)
        self._resolver = InDoubtResolver(self._connection, unanswered, settings.lookup_after_seconds, world)
        self._sender = CallSender(
            self._connection,
            {service: CallQueue(settings.calls, world) for service in self._results.services},
            self._pacer,
            ImageUploads(dependencies.load_images, sms_client, talk_client, world),
            self._resolver,
            unanswered,
            world,
            dependencies.on_anomaly,
        )

    @property
    def is_connected(self) -> bool:
        return any(not problem for problem in self._connection.problems.values())

    @property
    def problem(self) -> str:
        notices = self._connection.notices.shown.values()
        found = {*self._connection.described_problems, *self._poller.read_problems.values(), *notices}
        return "; ".join(sorted(found - {""}))

    @property
    def exhausted_quotas(self) -> Mapping[str, int]:
        return self._connection.quotas.exhausted

    async def submit(self, attempts: Sequence[Attempt], on_verdicts: OnVerdicts) -> None:
        submission = self._begin(attempts, on_verdicts)
        try:
            codes = await self._codes.get(None, submission.remaining_s)
        except NotProcessed:
            submission.report_all(attempts, NotSent())
            return
        new: list[Attempt] = []
        in_doubt: dict[ProductEndpoint, list[Attempt]] = defaultdict(list)
        is_brand = self.sends_friend_talk_as_brand
        sent = [as_sent(attempt, is_friend_talk_brand=is_brand) for attempt in attempts]
        for attempt in self._sendable(sent, submission):
            if attempt.is_in_doubt:
                in_doubt[endpoint_of(attempt)].append(attempt)
            else:
                new.append(attempt)
        async with asyncio.TaskGroup() as tasks:
            for call in group_into_calls(new, codes, self._own_codes):
                tasks.create_task(self._sender.send(call, submission))
            for endpoint, some in in_doubt.items():
                tasks.create_task(self._resolve(endpoint, some, codes, submission))

    def _sendable(self, attempts: Sequence[Attempt], submission: Submission) -> list[Attempt]:
        """Return the messages that can be sent now; report the others."""
        quotas, problems = self._connection.quotas, self._connection.problems
        refused: list[tuple[Attempt, Verdict]] = []
        sendable: list[Attempt] = []
        for attempt in attempts:
            service = endpoint_of(attempt).service
            verdict: Verdict | None = None
            if not attempt.is_in_doubt and not _is_supported(attempt):
                verdict = Declined(Outcome.UNDELIVERABLE)
            elif problems.get(service):
                verdict = NotSent()
            elif not attempt.is_in_doubt:
                verdict = quotas.take(service, attempt.sender_key)
            if verdict is None:
                sendable.append(attempt)
            else:
                refused.append((attempt, verdict))
        submission.report(refused)
        return sendable

    async def _resolve(
        self,
        endpoint: ProductEndpoint,
        attempts: Sequence[Attempt],
        codes: Mapping[int, SenderCodes],
        submission: Submission,
    ) -> None:
        """Look up messages in doubt, and submit those that NHN Cloud does not have."""
        missing = await self._resolver.resolve(endpoint, attempts, submission)
        for call in group_into_calls(missing, codes, self._own_codes):
            await self._sender.send(call, submission)

    async def handle_webhook(
        self, headers: Mapping[str, str], read_body: ReadBody, on_receipts: OnReceipts
    ) -> None:
        await self._results.handle_webhook(headers, read_body, on_receipts, self._inbox)

    @property
    def keeps_opt_outs(self) -> bool:  # type: ignore[override]
        return self._block_list is not None

    def image_limits(self, product: Product) -> ImageLimits:
        return limits_of(product)

    async def update_opt_outs(self, changes: Sequence[OptOutChange]) -> Sequence[OptOutChange]:
        return await self._block_list.update(changes) if self._block_list else changes

    async def list_sender_numbers(self) -> Sequence[RelayNumber] | None:
        if self._sms_client is None:
            return None
        pages = self._sms_client.pages(
            NUMBERS_PATH, ("body", "data"), {}, lambda: self._timeout_s, NUMBERS_PER_PAGE
        )
        with expect_documented_shape():
            return [_parse_number(row) async for rows in pages for row in rows]

    async def list_template_reads(self, sender_key: str, first: date, last: date) -> Sequence[TemplateReads]:
        yesterday = datetime.fromtimestamp(self._world.now() / SECOND, SEOUL).date() - timedelta(days=1)
        first, last = max(first, yesterday - timedelta(days=MAX_READ_DAYS - 1)), min(last, yesterday)
        if self._profile_client is None or first > last:
            return ()
        return await self._reads.get(ReadQuery(sender_key, first, last), min(self._timeout_s, READS_TIMEOUT_S))

    async def _read_reads(self, query: ReadQuery, timeout_s: float) -> list[TemplateReads]:
        assert self._profile_client
        kinds = [ALIMTALK] if Product.ALIMTALK in self.products else []
        kinds += [BRAND] if Product.BRAND_MESSAGE in self.products else []
        found = [await list_reads(self._profile_client, kind, query, timeout_s) for kind in kinds]
        return [row for rows in found for row in rows]

    async def close(self) -> None:
        await self._connection.close()

    def _beside(self) -> list[Coroutine[Any, Any, None]]:
        client = self._profile_client
        quotas = [self._connection.quotas.profiles.run(client, self._timeout_s)] if client else []
        return [*quotas, *super()._beside()]


def _is_supported(attempt: Attempt) -> bool:
    """Return whether NHN Cloud has everything that a message needs."""
    if endpoint_of(attempt) is ProductEndpoint.FRIENDTALK:
        return fit_friend_talk(attempt.buttons)
    return is_deliverable(attempt)


def build(settings: NhnCloudSettings, dependencies: Dependencies) -> NhnCloudCarrier:
    """Return the carrier that the settings describe.

    Raises BadSetting.
    """
    keys = (
        (settings.sms_address, settings.sms_app_key, settings.sms_secret_key),
        (settings.talk_address, settings.talk_app_key, settings.talk_secret_key),
    )
    sms_client, talk_client = (
        NhnCloudClient(address, app_key, secret_key, settings.tls_ca, on_answer=dependencies.on_answer)
        if app_key
        else None
        for address, app_key, secret_key in keys
    )
    provider = NhnCloudProvider(talk_client, settings.timeout_seconds) if talk_client is not None else None
    return NhnCloudCarrier(settings, dependencies, sms_client, talk_client, provider)


NUMBERS_PATH = "/sms/v3.0/appKeys/{appkey}/sendNos"
NUMBERS_PER_PAGE = 100


def _parse_number(row: dict[str, Any]) -> RelayNumber:
    is_usable = row.get("useYn") != "N" and row.get("blockYn") != "Y"
    return RelayNumber(str(row["sendNo"]).replace("-", ""), is_usable)
