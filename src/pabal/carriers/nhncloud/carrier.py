"""The NHN Cloud carrier: hands messages over in large calls, and asks before it hands anything over again."""

import asyncio
import contextlib
import itertools
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pabal.carriers.base import (
    Accepted,
    Busy,
    Carrier,
    Declined,
    NotSent,
    OnAnomaly,
    OnReceipts,
    OnVerdicts,
    ProfileProvider,
    ReadBody,
    Unknown,
    Verdict,
)
from pabal.carriers.nhncloud.batch import Submission
from pabal.carriers.nhncloud.call_queue import CallQueue
from pabal.carriers.nhncloud.calls import MOST_RECIPIENTS, ProductEndpoint, SendCall, calls_of, door_of
from pabal.carriers.nhncloud.client import NhnCloudClient, NoAnswer, NotReached, Said, Throttled, read_as_documented
from pabal.carriers.nhncloud.codes import (
    FILE_GONE,
    TAKEN_BEFORE,
    ErrorKind,
    refusal_of,
    verdict_of,
)
from pabal.carriers.nhncloud.images import ImageUploads, NotCarried, Show
from pabal.carriers.nhncloud.lookup import MessageLookup, reference_of
from pabal.carriers.nhncloud.results import ResultCursor, ResultReader
from pabal.carriers.pace import Pacer
from pabal.domain.message import Attempt, Outcome
from pabal.settings.carriers import NhnCloudSettings
from pabal.world import World

ANSWER_S = 40.0
SETTLE_S = 2.0
"""No call lasts longer than until so long before the time to answer is over."""
LAG_S = 20.0
"""What its lists do not show so long after a call was given up, it does not have."""
REMEMBERED_S = 900.0
"""How long it is remembered when a call was given up: longer than any pause between two questions."""
LEAST_S = 1.0
"""With less time left than this no call is begun."""
ASKS = 10
"""How many portions of messages in doubt are looked for at once."""
ASK_S = 20.0
"""With less time left than this none is looked for any more: those that are not there are to be handed over."""
REPEAT_S = 0.5
"""Pause before a call that brought no answer is repeated."""


@dataclass(frozen=True)
class Dependencies:
    """What the carrier needs from outside: a clock, pictures, how far results were read, and whom to tell."""

    world: World
    load_image: Show
    cursor: ResultCursor
    on_anomaly: OnAnomaly


class NhnCloudCarrier(Carrier):
    """NHN Cloud Notification."""

    can_look_up = True
    batch_size = MOST_RECIPIENTS
    timeout_s = ANSWER_S

    def __init__(
        self,
        settings: NhnCloudSettings,
        dependencies: Dependencies,
        sms_client: NhnCloudClient | None,
        talk_client: NhnCloudClient | None,
        provider: ProfileProvider | None = None,
    ) -> None:
        """`texts` and `talk` speak to its two interfaces; one that nothing is carried by is None."""
        self.name = settings.name
        self.products = frozenset(settings.products)
        self.window = settings.window
        self.failover_after_s = settings.failover_seconds
        self.provider = provider
        self._settings = settings
        self._world = dependencies.world
        self._note = dependencies.on_anomaly
        self._texts = sms_client
        self._talk = talk_client
        self._pacer = Pacer(settings.rate, dependencies.world)
        self._pictures = ImageUploads(dependencies.load_image, sms_client, talk_client, dependencies.world)
        self._results = ResultReader(
            settings, dependencies.world, dependencies.cursor, sms_client, talk_client, self._heard
        )
        self._trouble = dict.fromkeys(self._results.services, "not reached yet")
        self._given_up: dict[bytes, float] = {}
        """When a call with a message in it brought no answer, or when a doubt of others was first heard of."""
        self._turns = {each: CallQueue(settings.calls, dependencies.world) for each in self._results.services}
        self._asks = asyncio.Semaphore(ASKS)

    @property
    def is_connected(self) -> bool:
        return any(not trouble for trouble in self._trouble.values())

    @property
    def problem(self) -> str:
        found = {*self._trouble.values(), *self._results.unread.values()}
        return "; ".join(sorted(found - {""}))

    @property
    def rate(self) -> float:
        return self._pacer.rate

    @property
    def backlog_s(self) -> float:
        return self._pacer.backlog_s

    def set_rate_share(self, share: float) -> None:
        self._pacer.set_share(share)

    async def submit(self, attempts: Sequence[Attempt], on_verdicts: OnVerdicts) -> None:
        batch = Submission(on_verdicts, self._world, self._world.monotonic() + self.timeout_s - SETTLE_S)
        unsubscribe = self._settings.unsubscribe_number
        unlawful = {
            each.message_id
            for each in attempts
            if each.is_ad and each.product.is_text and not unsubscribe and not each.is_in_doubt
        }
        batch.say([each for each in attempts if each.message_id in unlawful], Declined(Outcome.UNDELIVERABLE))
        carried = [each for each in attempts if each.message_id not in unlawful]
        closed = {service for service, trouble in self._trouble.items() if trouble}
        if closed and (away := [each for each in carried if door_of(each, unsubscribe).service in closed]):
            batch.say(away, NotSent())
            gone = {each.message_id for each in away}
            carried = [each for each in carried if each.message_id not in gone]
        doubtful: dict[ProductEndpoint, list[Attempt]] = defaultdict(list)
        for each in carried:
            if each.is_in_doubt:
                doubtful[door_of(each, unsubscribe)].append(each)
        async with asyncio.TaskGroup() as group:
            for call in calls_of([each for each in carried if not each.is_in_doubt], unsubscribe):
                group.create_task(self._give(call, batch))
            for door, some in doubtful.items():
                group.create_task(self._clear_up(door, some, batch))

    async def handle_webhook(
        self, headers: Mapping[str, str], read_body: ReadBody, on_receipts: OnReceipts
    ) -> None:
        await self._results.handle_webhook(headers, read_body, on_receipts)

    async def run(self, on_receipts: OnReceipts) -> None:
        try:
            await self._results.run(on_receipts)
        except asyncio.CancelledError:  # after a fault it is run again
            for client in filter(None, (self._texts, self._talk)):
                await client.close()
            raise

    # Handing over.

    async def _give(self, call: SendCall, batch: Submission) -> None:
        """Make a call when its turn comes, and tell what it brought."""
        first = self._pacer.reserve(len(call.attempts))
        await self._pacer.wait(first, len(call.attempts) - 1, 1)  # it goes as one, when its last message may
        turns = self._turns[call.endpoint.service]
        if not await turns.take(max(0.0, batch.left_s - LEAST_S), is_small=call.attempts[0].is_small):
            batch.say(call.attempts, NotSent())
            return
        smaller: tuple[SendCall, ...] = ()
        try:
            with self._as_verdicts(call, batch):
                smaller = await self._call(call, batch)
        finally:
            turns.give_back()
        for each in smaller:
            await self._give(each, batch)

    async def _call(self, call: SendCall, batch: Submission) -> tuple[SendCall, ...]:
        """Make a call, and tell what it brought; return those to make instead, if it is to be made in parts.

        Raises NotCarried, and what Client.ask raises, where nothing of it can have been taken.
        """
        image = await self._image(call, batch)
        try:
            answer = await self._ask(call, image, batch)
        except NoAnswer:
            self._note("no answer to a call")
            self._give_up(call.attempts)
            if call.endpoint.is_text:
                batch.say(call.attempts, Unknown())
            else:
                await self._repeat(call, image, batch)
            return ()
        except Said as said:
            return self._refused(call, said, batch)
        self._heard(call.endpoint.service, "")
        self._turns[call.endpoint.service].ease()
        self._give_up(call.attempts)  # unless the answer can be read
        with self._as_unknown(call, batch):
            self._taken(call, answer, batch)
        return ()

    async def _repeat(self, call: SendCall, image: str | int | None, batch: Submission) -> None:
        """Make a call again that brought no answer; its key keeps it from being taken twice."""
        await asyncio.sleep(min(REPEAT_S, batch.left_s))
        with self._as_unknown(call, batch):
            try:
                answer = await self._ask(call, image, batch)
                self._heard(call.endpoint.service, "")
                self._taken(call, answer, batch)
            except Said as said:
                if said.code != TAKEN_BEFORE:  # the first may have been taken all the same: that is asked later
                    raise
                search = self._search(call.endpoint, call.attempts)
                for portion in search.portions:
                    batch.say(await self._look_up(search, portion, batch), Unknown())

    async def _ask(self, call: SendCall, image: str | int | None, batch: Submission) -> dict[str, object]:
        return await self._client(call.endpoint).ask(
            "POST", call.path, body=call.body(image), headers=call.headers, within_s=self._within_s(batch)
        )

    async def _image(self, call: SendCall, batch: Submission) -> str | int | None:
        first = call.attempts[0]
        if first.image_request_id is None:
            return None
        return await self._pictures.name(first.image_request_id, first.product, self._within_s(batch))

    def _refused(self, call: SendCall, said: Said, batch: Submission) -> tuple[SendCall, ...]:
        """Tell what follows from a refusal of a whole call; return its halves if it may be about one message."""
        self._heard(call.endpoint.service, "")
        if said.code == FILE_GONE and call.endpoint.is_text and call.attempts[0].image_request_id:
            self._pictures.forget(call.attempts[0].image_request_id)
            batch.say(call.attempts, Busy())
            return ()
        if said.code == TAKEN_BEFORE and not call.endpoint.is_text:
            self._give_up(call.attempts)
            batch.say(call.attempts, Unknown())
            return ()
        with contextlib.suppress(NoAnswer), read_as_documented():
            self._taken(call, said.answer, batch)
            return ()
        refusal = refusal_of(said.code, is_text=call.endpoint.is_text)
        if refusal is ErrorKind.CLOSED:
            self._hear(call.endpoint, said)
            batch.say(call.attempts, NotSent())
        elif refusal.is_about_one and len(call.attempts) > 1:
            if batch.may_split():
                return call.halves()
            batch.say(call.attempts, Busy())
        else:
            if refusal is ErrorKind.UNSURE:
                self._give_up(call.attempts)
            elif refusal is ErrorKind.ODD:
                self._note(f"code {said.code}")
            batch.say(call.attempts, verdict_of(refusal))
        return ()

    def _taken(self, call: SendCall, answer: object, batch: Submission) -> None:
        """Tell what an answer says of each message. Raises what reading another one than documented raises."""
        assert isinstance(answer, dict)
        body = answer["body"]["data"] if call.endpoint.is_text else answer["message"]
        is_text, name = call.endpoint.is_text, body["requestId"]
        rows = body["sendResultList"] if is_text else body["sendResults"]
        by_name = {str(row["recipientGroupingKey"]): row for row in rows}
        told: list[tuple[Attempt, Verdict]] = []
        for each in call.attempts:
            row = by_name[each.message_id.hex()]
            code = int(row["resultCode"] or 0)
            if code == 0:
                told.append((each, Accepted(reference_of(name, row["recipientSeq"]))))
            else:
                told.append((each, verdict_of(refusal_of(code, is_text=is_text))))
        for each, verdict in told:
            if not isinstance(verdict, Unknown):
                self._given_up.pop(each.message_id, None)
        batch.say_each(told)

    # What is in doubt.

    async def _clear_up(self, door: ProductEndpoint, doubtful: list[Attempt], batch: Submission) -> None:
        """Find out about messages in doubt; hand over what it does not have, once its lists can be believed."""
        heard_at = self._world.monotonic()
        for each in doubtful:  # who had it before, here or in another process, may have made its call just now
            self._given_up.setdefault(each.message_id, heard_at)
        search = self._search(door, doubtful)
        left = await asyncio.gather(*(self._missing(search, portion, batch) for portion in search.portions))
        sure: list[Attempt] = []
        told: list[tuple[Attempt, Verdict]] = []
        for asked_at, each in itertools.chain.from_iterable(left):
            verdict = search.verdict(each)  # another portion may have come upon it
            if verdict is None and asked_at - self._given_up.get(each.message_id, asked_at) >= LAG_S:
                sure.append(each)
            else:
                told.append((each, verdict or Unknown()))
        batch.say_each(told)
        for again in calls_of(sure, self._settings.unsubscribe_number):
            await self._give(again, batch)

    async def _missing(
        self, search: MessageLookup, portion: Sequence[Attempt], batch: Submission
    ) -> list[tuple[float, Attempt]]:
        """Tell what there is to tell of some messages in doubt; return those it lacked, and when it was asked."""
        left: list[Attempt] = []
        asked_at = self._world.monotonic()
        async with self._asks:
            if batch.left_s < ASK_S:
                batch.say(portion, Unknown())
                return []
            with self._as_unknown(SendCall(search.door, "", {}, list(portion)), batch):
                asked_at = self._world.monotonic()
                left = await self._look_up(search, portion, batch)
                self._heard(search.door.service, "")
        return [(asked_at, each) for each in left]

    async def _look_up(self, search: MessageLookup, portion: Sequence[Attempt], batch: Submission) -> list[Attempt]:
        """Tell of those that it has; return the others."""
        found = await search.find(portion, lambda: self._within_s(batch))
        batch.say_each([(each, found[each.message_id]) for each in portion if each.message_id in found])
        for one in found:
            self._given_up.pop(one, None)
        return [each for each in portion if each.message_id not in found]

    def _search(self, door: ProductEndpoint, attempts: Sequence[Attempt]) -> MessageLookup:
        return MessageLookup(door, self._client(door), attempts, self._world)

    def _give_up(self, attempts: Sequence[Attempt]) -> None:
        now = self._world.monotonic()
        while self._given_up and next(iter(self._given_up.values())) < now - REMEMBERED_S:
            self._given_up.pop(next(iter(self._given_up)))
        for each in attempts:
            self._given_up.pop(each.message_id, None)
            self._given_up[each.message_id] = now

    # How it does.

    @contextlib.contextmanager
    def _as_verdicts(self, call: SendCall, batch: Submission) -> Iterator[None]:
        """Turn what went wrong before anything can have been taken into verdicts."""
        began_at = self._world.monotonic()
        try:
            yield
        except NotReached as gone:
            self._hear(call.endpoint, gone)
            batch.say(call.attempts, NotSent())
        except Throttled:  # it was not even looked at: that costs no try, but the next ones go slower
            self._turns[call.endpoint.service].widen(began_at)
            batch.say(call.attempts, NotSent())
        except NoAnswer:  # to an upload: nothing was sent
            batch.say(call.attempts, Busy())
        except NotCarried:
            batch.say(call.attempts, Declined(Outcome.UNDELIVERABLE))
        except Said as said:
            batch.say(call.attempts, verdict_of(refusal_of(said.code, is_text=call.endpoint.is_text)))

    @contextlib.contextmanager
    def _as_unknown(self, call: SendCall, batch: Submission) -> Iterator[None]:
        """Let what went wrong leave those in doubt that nothing was told of."""
        try:
            with read_as_documented():
                yield
        except (NotReached, NoAnswer, Throttled, Said) as wrong:
            if isinstance(wrong, NotReached):
                self._hear(call.endpoint, wrong)
            batch.say(call.attempts, Unknown())

    def _client(self, door: ProductEndpoint) -> NhnCloudClient:
        client = self._texts if door.is_text else self._talk
        assert client is not None
        return client

    def _within_s(self, batch: Submission) -> float:
        return max(0.1, min(self._settings.timeout_seconds, batch.left_s))

    def _hear(self, door: ProductEndpoint, wrong: Exception) -> None:
        self._heard(door.service, str(wrong) or type(wrong).__name__)

    def _heard(self, service: str, trouble: str) -> None:
        self._trouble[service] = trouble
