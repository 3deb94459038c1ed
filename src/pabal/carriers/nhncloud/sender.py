"""Submits messages to NHN Cloud, after their images, and turns its answers into verdicts."""

import asyncio
import contextlib
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pabal.carriers.base import Accepted, Busy, Declined, NotSent, OnAnomaly, Unknown, Verdict
from pabal.carriers.nhncloud.calls import ProductEndpoint, SendCall, match_rows
from pabal.carriers.nhncloud.client import (
    ErrorResponse,
    NhnCloudClient,
    NoResponse,
    NotProcessed,
    Throttled,
    UploadFile,
    expect_documented_shape,
)
from pabal.carriers.nhncloud.codes import (
    ATTACHMENT_EXPIRED,
    DUPLICATE_CALL,
    NO_AUTH_WORD,
    ErrorKind,
    error_kind_of,
    verdict_for,
)
from pabal.carriers.nhncloud.connection import Connection
from pabal.carriers.nhncloud.lookup import InDoubtResolver, make_reference
from pabal.carriers.pace import Pacer
from pabal.carriers.relay.call_queue import CallQueue, SharedCalls
from pabal.carriers.relay.carrier import ImageNotSupported, LoadImages, check_images
from pabal.carriers.relay.submission import Submission, UnansweredMessages
from pabal.domain.brand.message import BrandMessage, BrandType
from pabal.domain.content.image import JPEG, LEAST_LIMITS, PNG, Image, ImageLimits
from pabal.domain.sends.message import Attempt, Outcome, Product
from pabal.world import World

CACHE_TTL_S = 6 * 24 * 3600.0
"""How long an upload is used: SMS deletes uploads after seven days, KakaoTalk never."""
MAX_FILE_NAME_CHARACTERS = 45
_TALK_LIMITS = ImageLimits(5 * 1024 * 1024, types=frozenset((JPEG, PNG)))
_LIMITS = {
    Product.MMS: ImageLimits(300 * 1024, 1000, 1000, max_count=3, max_total_bytes=800 * 1024),
    Product.ALIMTALK: ImageLimits(500_000),  # of a template
    **{each: _TALK_LIMITS for each in Product if each.is_friend_talk or each is Product.BRAND_MESSAGE},
}
_SUFFIXES = {JPEG: ".jpg", PNG: ".png"}
"""NHN Cloud requires one of these."""

ImageRef = str | int
"""What an uploaded image is called at NHN Cloud: its id for SMS, its address for KakaoTalk."""
IMAGE, WIDE_IMAGE = "IMAGE", "WIDE_IMAGE"
"""The types of images that we upload: a wide one may be no higher than wide. Others are uploaded in its console."""


def limits_of(product: Product) -> ImageLimits:
    """Return which images NHN Cloud documents that it takes."""
    return _LIMITS.get(product, LEAST_LIMITS)


class ImageUploads:
    """Uploads images and remembers their references."""

    def __init__(
        self,
        load_images: LoadImages,
        sms_client: NhnCloudClient | None,
        talk_client: NhnCloudClient | None,
        world: World,
    ) -> None:
        self._load_images = load_images
        self._sms_client = sms_client
        self._talk_client = talk_client
        self._uploads: SharedCalls[tuple[bytes, str], tuple[ImageRef, ...]] = SharedCalls(
            self._upload, CACHE_TTL_S, world
        )

    async def upload(
        self, request_id: bytes, product: Product, timeout_s: float, brand: BrandMessage | None = None
    ) -> tuple[ImageRef, ...]:
        """Return the references of a request's images, which are uploaded if they are not yet.

        Raises ImageNotSupported, and what NhnCloudClient.request raises.
        """
        if brand is not None:
            kind = WIDE_IMAGE if brand.type is BrandType.WIDE else IMAGE
        else:
            kind = "mms" if product.is_text else "wide" if product is Product.FRIENDTALK_WIDE_IMAGE else "talk"
        return await self._uploads.get((request_id, kind), timeout_s)

    def forget(self, request_id: bytes) -> None:
        """Upload the images of a request again when they are needed next."""
        for kind in ("mms", "wide", "talk", IMAGE, WIDE_IMAGE):
            self._uploads.forget((request_id, kind))

    async def _upload(self, wanted: tuple[bytes, str], timeout_s: float) -> tuple[ImageRef, ...]:
        request_id, kind = wanted
        images = await self._load_images(request_id)
        check_images(images, limits_of(Product.MMS) if kind == "mms" else _TALK_LIMITS)
        names = [
            f"{request_id.hex()}{number or ''}{_SUFFIXES[each.content_type]}"[-MAX_FILE_NAME_CHARACTERS:]
            for number, each in enumerate(images)
        ]
        return tuple(
            [await self._upload_one(name, each, kind, timeout_s) for name, each in zip(names, images, strict=True)]
        )

    async def _upload_one(self, name: str, image: Image, kind: str, timeout_s: float) -> ImageRef:
        if kind == "mms":
            assert self._sms_client is not None
            answer = await self._sms_client.request(
                "POST",
                "/sms/v3.0/appKeys/{appkey}/attachfile/binaryUpload",
                timeout_s=timeout_s,
                body={"fileName": name, "createUser": "pabal", "fileBody": b64encode(image.body).decode()},
            )
            with expect_documented_shape():
                return int(answer["body"]["data"]["fileId"])
        assert self._talk_client is not None
        is_brand = kind in (IMAGE, WIDE_IMAGE)  # it refuses one that is too narrow or too high
        base = "/brand-message/v1.0" if is_brand else "/friendtalk/v2.4"
        fields = {"imageType": kind} if is_brand else {}
        answer = await self._talk_client.request(
            "POST",
            f"{base}/appkeys/{{appkey}}/images",
            timeout_s=timeout_s,
            query={"wide": "true"} if kind == "wide" else None,
            file=UploadFile("image", name, image.content_type, image.body, fields),
        )
        with expect_documented_shape():
            return str(answer["image"]["imageUrl"])


REPEAT_DELAY_S = 0.5
"""Delay before a call without an answer is repeated."""


@dataclass(eq=False)
class CallSender:
    """Makes calls that submit messages, within the rate and the number of calls at once."""

    _connection: Connection
    _queues: Mapping[str, CallQueue]
    _pacer: Pacer
    _images: ImageUploads
    _resolver: InDoubtResolver
    _unanswered: UnansweredMessages
    _world: World
    _on_anomaly: OnAnomaly

    async def send(self, call: SendCall, submission: Submission) -> None:
        """Make a call when it may go out, and report the verdicts."""
        await submission.send(call, self._pacer, self._queues[call.endpoint.service], self._make)

    async def _make(self, call: SendCall, submission: Submission) -> Sequence[SendCall]:
        """Make a call and report the verdicts; return its halves if these must be sent instead."""
        began_at = self._world.monotonic()
        try:
            return await self._call(call, submission)
        except NotProcessed as error:
            self._connection.set_problem(call.endpoint, error)
            verdict: Verdict = NotSent()
        except Throttled as error:  # not processed: it does not count as a try, but the next ones go slower
            self._queues[call.endpoint.service].slow_down(began_at)
            verdict = self._connection.quotas.note_throttled(call.endpoint.service, error)
        except NoResponse:  # to an upload: no message was sent
            verdict = Busy()
        except ImageNotSupported as error:
            self._on_anomaly(str(error))
            verdict = Declined(Outcome.UNDELIVERABLE)
        except ErrorResponse as error:
            verdict = verdict_for(error_kind_of(error.code, is_text=call.endpoint.is_text), str(error.code))
        submission.report_all(call.attempts, verdict)
        return ()

    async def _call(self, call: SendCall, submission: Submission) -> tuple[SendCall, ...]:
        """Make a call and report the verdicts; return its halves if these must be sent instead.

        Raises ImageNotSupported, and what NhnCloudClient.request raises, if nothing was accepted.
        """
        first = call.attempts[0]
        images: Sequence[ImageRef] = ()
        if first.image_request_id is not None:
            timeout_s = self._connection.timeout_s(submission)
            images = await self._images.upload(first.image_request_id, first.product, timeout_s, first.brand)
        began_at = self._world.monotonic()
        try:
            answer = await self._request(call, images, submission)
        except NoResponse as error:
            self._on_anomaly("no response to a call")
            self._connection.note_unanswered(call.endpoint, error)
            self._unanswered.add(call.attempts, began_at)
            if call.endpoint.has_idempotency_keys:
                await self._repeat(call, images, submission)
            self._resolver.report_unknown(call.attempts, submission)
            return ()
        except ErrorResponse as error:
            return self._handle_error(call, error, began_at, submission)
        self._connection.note_answered(call.endpoint)
        self._queues[call.endpoint.service].speed_up()
        self._unanswered.add(call.attempts, began_at)  # unless the answer can be parsed
        try:
            with expect_documented_shape():
                self._report_answer(call, answer, submission)
        except NoResponse:
            self._resolver.report_unknown(call.attempts, submission)
        return ()

    async def _repeat(self, call: SendCall, images: Sequence[ImageRef], submission: Submission) -> None:
        """Repeat a call without an answer; its idempotency key prevents that it is accepted twice."""
        await asyncio.sleep(min(REPEAT_DELAY_S, submission.remaining_s))
        self._unanswered.add(call.attempts, self._world.monotonic())
        with self._connection.errors_left_in_doubt(call.endpoint):
            try:
                answer = await self._request(call, images, submission)
                self._connection.note_answered(call.endpoint)
                self._report_answer(call, answer, submission)
            except ErrorResponse as error:
                if error.code != DUPLICATE_CALL:  # the first call may have been accepted; a later lookup tells
                    raise
                await self._resolver.report_found(call.endpoint, call.attempts, submission)

    async def _request(self, call: SendCall, images: Sequence[ImageRef], submission: Submission) -> dict[str, Any]:
        return await self._connection.client(call.endpoint).request(
            "POST",
            call.path,
            body=call.body(images),
            headers=call.headers,
            timeout_s=self._connection.timeout_s(submission),
        )

    def _handle_error(
        self, call: SendCall, error: ErrorResponse, began_at: float, submission: Submission
    ) -> tuple[SendCall, ...]:
        """Report the verdicts after an error of a whole call; return the calls to make instead, if any."""
        attempts, is_text = call.attempts, call.endpoint.is_text
        self._connection.note_answered(call.endpoint)
        if error.code == ATTACHMENT_EXPIRED and is_text and attempts[0].image_request_id:
            self._images.forget(attempts[0].image_request_id)
            submission.report_all(attempts, Busy())
            return ()
        if error.code == DUPLICATE_CALL and not is_text:
            self._unanswered.add(attempts, began_at)
            self._resolver.report_unknown(attempts, submission)
            return ()
        if error.code == NO_AUTH_WORD[is_text] and call.endpoint.is_for_codes:
            return (call.on_ordinary_line(),)
        with contextlib.suppress(NoResponse), expect_documented_shape():
            self._report_answer(call, error.answer, submission)
            return ()
        kind = error_kind_of(error.code, is_text=is_text)
        if kind is ErrorKind.ACCOUNT_CLOSED:
            self._connection.set_problem(call.endpoint, error)
            submission.report_all(attempts, NotSent())
        elif len(attempts) > 1 and (kind.concerns_one_message or _may_be_a_value(kind, attempts[0])):
            return submission.halves_of(call)
        elif kind is ErrorKind.UNCERTAIN:
            self._unanswered.add(attempts, began_at)
            self._resolver.report_unknown(attempts, submission)
        else:
            if kind in (ErrorKind.INVALID_CALL, ErrorKind.UNEXPECTED):
                self._on_anomaly(f"code {error.code}")
            submission.report_all(attempts, self._verdict(call, kind, error.code))
        return ()

    def _report_answer(self, call: SendCall, answer: Mapping[str, Any], submission: Submission) -> None:
        """Report the verdict on each message of a call. Raises KeyError and the like for an unexpected shape."""
        is_text = call.endpoint.is_text
        body = answer["body"]["data"] if is_text else answer["message"]
        request_id = body.get("requestId")  # null if every recipient was refused
        rows = body["sendResultList"] if is_text else body["sendResults"]
        if call.endpoint is ProductEndpoint.BRAND:
            by_name = match_rows(call.attempts, rows)
        else:
            by_name = {str(row["recipientGroupingKey"]): row for row in rows}
        verdicts: list[tuple[Attempt, Verdict]] = []
        for attempt in call.attempts:
            row = by_name[attempt.message_id.hex()]
            code = int(row["resultCode"] or 0)
            if code == 0 and request_id is not None:
                verdicts.append((attempt, Accepted(make_reference(request_id, row["recipientSeq"]))))
            elif code == 0:
                verdicts.append((attempt, self._resolver.unknown(attempt)))
            else:
                verdicts.append((attempt, self._verdict(call, error_kind_of(code, is_text=is_text), code)))
        given = [verdict for _, verdict in verdicts]
        if any(isinstance(each, Accepted) for each in given) and NotSent() not in given:  # no quota was in the way
            self._connection.quotas.note_accepted(call.endpoint.service, call.attempts[0].sender_key)
        known = [attempt.message_id for attempt, verdict in verdicts if not isinstance(verdict, Unknown)]
        self._unanswered.discard(known)
        submission.report(verdicts)

    def _verdict(self, call: SendCall, kind: ErrorKind, code: int) -> Verdict:
        """Return the verdict on one message of a call after an error."""
        quotas = self._connection.quotas
        if kind is ErrorKind.TEXT_QUOTA:
            return quotas.exhaust_texts()
        if kind is ErrorKind.DAILY_QUOTA:
            return quotas.exhaust_profile(call.endpoint.service, call.attempts[0].sender_key)
        return verdict_for(kind, str(code))


def _may_be_a_value(kind: ErrorKind, attempt: Attempt) -> bool:
    """Return whether the value of a variable, such as a link, may be the reason for the refusal of a whole call."""
    return kind is ErrorKind.BRAND_NOT_SUPPORTED and bool(attempt.parameters)
