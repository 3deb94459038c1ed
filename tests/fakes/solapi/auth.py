"""The HMAC authentication of Solapi (documents: authentication/api-key.md)."""

import hashlib
import hmac
import re

from tests.fakes.solapi.state import ApiError, State, parse_iso

MAX_SKEW_MS = 15 * 60 * 1000
"""±15 minutes, in which a signature may be used once."""
MIN_SALT_BYTES, MAX_SALT_BYTES = 12, 64
_HEADER = re.compile(
    r"(?P<method>HMAC-SHA256|HMAC-MD5) (?i:apiKey)=(?P<key>[^,]+), (?i:date)=(?P<date>[^,]+),"
    r" (?i:salt)=(?P<salt>[^,]+), (?i:signature)=(?P<signature>[0-9a-f]+)"
)
"""Each client spells the names in its own way: `apiKey`, `ApiKey` or `Apikey`, `date` or `Date`."""
_DIGESTS = {"HMAC-SHA256": hashlib.sha256, "HMAC-MD5": hashlib.md5}


class Authenticator:
    """Checks the Authorization header, and remembers the signatures of the last 15 minutes."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._used: dict[str, int] = {}

    def check(self, header: str) -> None:
        """Raise ApiError unless the header is right: all four errors have HTTP status 403."""
        state = self._state
        parts = _HEADER.fullmatch(header)
        if parts is None or parts["key"] != state.api_key:
            raise ApiError(403, "InvalidAPIKey", "유효한 API Key가 아님")
        if not MIN_SALT_BYTES <= len(parts["salt"].encode()) <= MAX_SALT_BYTES:
            raise ApiError(403, "SignatureDoesNotMatch", "생성한 Signature가 일치하지 않음")
        now, at = state.clock(), parse_iso(parts["date"], "date")
        if abs(now - at) >= MAX_SKEW_MS:
            raise ApiError(403, "RequestTimeTooSkewed", "시간 값이 서버 시간을 15분 이상 벗어남")
        data = (parts["date"] + parts["salt"]).encode()
        wanted = hmac.new(state.api_secret.encode(), data, _DIGESTS[parts["method"]]).hexdigest()
        if not hmac.compare_digest(wanted, parts["signature"]):
            raise ApiError(403, "SignatureDoesNotMatch", "생성한 Signature가 일치하지 않음")
        self._forget(now)
        if wanted in self._used:
            raise ApiError(403, "DuplicatedSignature", "15분 안에 동일한 signature 값")
        self._used[wanted] = now

    def _forget(self, now: int) -> None:
        while self._used and next(iter(self._used.values())) <= now - MAX_SKEW_MS:
            del self._used[next(iter(self._used))]
