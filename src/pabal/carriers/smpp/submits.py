"""From a message in our hands to the submits that carry it, as one operator wants them."""

from pabal.carriers.smpp import pdu
from pabal.carriers.smpp.encoding import EncodedText, encode_text, split_segments
from pabal.carriers.smpp.pdu import Address, ShortMessage
from pabal.domain import identifiers
from pabal.domain.message import Attempt
from pabal.settings.carriers import SmppSettings

_MINUTES_A_DAY = 24 * 60


class SubmitWriter:
    """Writes submits by the settings of a carrier."""

    def __init__(self, settings: SmppSettings) -> None:
        """Raises ValueError for settings that SMPP has no room for."""
        self._settings = settings
        self._validity = _relative(settings.validity_minutes)
        self._registered = int(settings.receipts)
        self._is_marked = settings.on_doubt == "hold"
        nobody = Address(0, 0, "")
        pdu.encode_submit(ShortMessage(nobody, nobody, b"", service_type=settings.service_type))

    def bodies(self, attempt: Attempt) -> list[bytes]:
        """Return the bodies of the submits that carry a message; none where it cannot be written."""
        settings = self._settings
        text = f"{attempt.subject}\n{attempt.content}" if attempt.subject else attempt.content
        try:
            words = encode_text(
                text, settings.encoding, settings.data_coding if settings.encoding == "cp949" else None
            )
            is_payload = not words.fits_one and settings.long_messages == "payload"
            if words.fits_one or is_payload:
                return [self._body(attempt, words, words.octets, is_payload=is_payload, is_marked=self._is_marked)]
            parts = split_segments(words, identifiers.user_message_reference(attempt.message_id))
            return [self._body(attempt, words, part, esm_class=pdu.HAS_UDH) for part in parts]
        except ValueError:  # also of a number: one message must not fail its whole batch
            return []

    def _body(
        self,
        attempt: Attempt,
        words: EncodedText,
        octets: bytes,
        *,
        esm_class: int = 0,
        is_payload: bool = False,
        is_marked: bool = False,
    ) -> bytes:
        settings = self._settings
        options: dict[int, bytes] = {}
        if is_marked:
            options[pdu.USER_MESSAGE_REFERENCE] = identifiers.user_message_reference(attempt.message_id).to_bytes(
                2, "big"
            )
        if is_payload:
            options[pdu.MESSAGE_PAYLOAD] = octets
        return pdu.encode_submit(
            ShortMessage(
                Address(settings.source_ton, settings.source_npi, attempt.sender),
                Address(settings.dest_ton, settings.dest_npi, self._receiver(attempt.receiver)),
                b"" if is_payload else octets,
                esm_class,
                words.data_coding,
                self._registered,
                settings.service_type,
                0,
                0,
                "",
                self._validity,
                0,
                0,
                options,
            )
        )

    def _receiver(self, digits: str) -> str:
        return f"82{digits[1:]}" if self._settings.numbers == "international" else digits


def _relative(minutes: int) -> str:
    """Return a period as the protocol writes it, empty for none."""
    if not minutes:
        return ""
    days, rest = divmod(minutes, _MINUTES_A_DAY)
    hours, minutes = divmod(rest, 60)
    return f"0000{days:02}{hours:02}{minutes:02}00000R"
