"""Makes the submit_sm bodies of a message, by the settings of an operator."""

from pabal.carriers.smpp import pdu, protocol
from pabal.carriers.smpp.encoding import EncodedText, encode_text, split_segments
from pabal.carriers.smpp.pdu import Address, ShortMessage
from pabal.domain.base import identifiers
from pabal.domain.base.dates import SECOND, Instant
from pabal.domain.sends.message import Attempt
from pabal.settings.carriers import SmppSettings

SHORT_CHARACTERS = 70
"""A text of at most this many characters fits one segment in every encoding: none takes more than two octets."""
_SECONDS_PER_DAY = 24 * 60 * 60


class SubmitWriter:
    """Writes submit_sm bodies by the settings of a carrier."""

    def __init__(self, settings: SmppSettings) -> None:
        """Raises ValueError for settings that do not fit their fields."""
        self._settings = settings
        self._max_validity_s = settings.validity_minutes * 60
        self._registered_delivery = int(settings.receipts)
        self._sends_reference = settings.on_doubt == "hold" or not settings.max_resends
        no_address = Address(0, 0, "")
        pdu.encode_short_message(ShortMessage(no_address, no_address, b"", service_type=settings.service_type))

    def bodies(self, attempt: Attempt, now: Instant) -> list[bytes]:
        """Return one body for each segment; none if the message cannot be encoded.

        The operator may try until the message's deadline, but no longer than the settings say.
        """
        validity = self._validity(attempt, now)
        try:
            encoded = self._encode(_text_of(attempt))
            is_payload = not encoded.fits_one_segment and self._settings.long_messages == "payload"
            if encoded.fits_one_segment or is_payload:
                return [
                    self._body(
                        attempt,
                        encoded,
                        encoded.octets,
                        validity,
                        is_payload=is_payload,
                        has_reference=self._sends_reference or attempt.is_in_doubt,
                    )
                ]
            segments = split_segments(encoded, identifiers.user_message_reference(attempt.message_id))
            return [self._body(attempt, encoded, each, validity, esm_class=protocol.HAS_UDH) for each in segments]
        except ValueError:  # also for a phone number: one bad message must not fail its batch
            return []

    def count_segments(self, attempt: Attempt) -> int:
        """Return how many segments a message takes, without writing them; 0 if it cannot be encoded."""
        text = _text_of(attempt)
        if len(text) <= SHORT_CHARACTERS or self._settings.long_messages == "payload":
            return 1
        try:
            return len(split_segments(self._encode(text), 0))
        except ValueError:
            return 0

    def _encode(self, text: str) -> EncodedText:
        settings = self._settings
        data_coding = settings.data_coding if settings.encoding == "cp949" else None
        return encode_text(text, settings.encoding, data_coding)

    def _body(
        self,
        attempt: Attempt,
        encoded: EncodedText,
        octets: bytes,
        validity: str,
        *,
        esm_class: int = 0,
        is_payload: bool = False,
        has_reference: bool = False,
    ) -> bytes:
        settings = self._settings
        tlvs: dict[int, bytes] = {}
        if has_reference:
            tlvs[protocol.USER_MESSAGE_REFERENCE] = identifiers.user_message_reference(attempt.message_id).to_bytes(
                2, "big"
            )
        if is_payload:
            tlvs[protocol.MESSAGE_PAYLOAD] = octets
        return pdu.encode_short_message(
            ShortMessage(
                Address(settings.source_ton, settings.source_npi, attempt.sender),
                Address(settings.dest_ton, settings.dest_npi, self._receiver(attempt.receiver)),
                b"" if is_payload else octets,
                esm_class,
                encoded.data_coding,
                self._registered_delivery,
                settings.service_type,
                0,
                0,
                "",
                validity,
                0,
                0,
                tlvs,
            )
        )

    def _validity(self, attempt: Attempt, now: Instant) -> str:
        if attempt.expires_at is None:
            return _relative_time(self._max_validity_s)
        left_s = max(1, -(-(attempt.expires_at - now) // SECOND))
        return _relative_time(min(left_s, self._max_validity_s) if self._max_validity_s else left_s)

    def _receiver(self, digits: str) -> str:
        return f"82{digits[1:]}" if self._settings.numbers == "international" else digits


def _text_of(attempt: Attempt) -> str:
    return f"{attempt.subject}\n{attempt.content}" if attempt.subject else attempt.content


def _relative_time(seconds: int) -> str:
    """Return a relative time in SMPP format; empty for none."""
    if not seconds:
        return ""
    days, rest = divmod(seconds, _SECONDS_PER_DAY)
    hours, rest = divmod(rest, 60 * 60)
    minutes, seconds = divmod(rest, 60)
    return f"0000{days:02}{hours:02}{minutes:02}{seconds:02}000R"
