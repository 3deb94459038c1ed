"""Uploaded files (documents: storage/uploadfile.md and solapi.com/developers/api/postStorage of 2026-03-18).

"MMS … 200KB, jpg, 최대 1500×1440px", "ATA … 500KB, png, jpg", "BMS … 5MB, jpg, png". Whether a KB has 1,000 or
1,024 bytes is not said: 1,000, the smaller.
"""

import base64
from operator import gt

import msgspec

from tests.fakes.nhncloud.answers import Request
from tests.fakes.nhncloud.images import measure
from tests.fakes.solapi.messages import decode
from tests.fakes.solapi.state import ApiError, Json, State, StoredFile, iso

MAX_BYTES = {"KAKAO": 500_000, "MMS": 200_000, "ATA": 500_000, "RCS": 1_000_000}
DEFAULT_MAX_BYTES = 5_000_000
MAX_MMS_PX = (1500, 1440)
PNG = b"\x89PNG"


class FileBody(msgspec.Struct):
    """A file in Base64."""

    file: str
    type: str = "DOCUMENT"
    name: str | None = None
    link: str | None = None


def upload(state: State, request: Request) -> Json:
    """Store a file and return its id."""
    given = decode(request, FileBody)
    body = base64.b64decode(given.file, validate=True)
    if len(body) > MAX_BYTES.get(given.type, DEFAULT_MAX_BYTES):
        raise ApiError(400, "FileTooLarge", "파일의 크기가 너무 큽니다.")
    if given.type == "MMS" and (body.startswith(PNG) or any(map(gt, measure(body), MAX_MMS_PX))):
        raise ApiError(400, "InvalidFileType", "지원하지 않는 파일 형식입니다.")
    file = StoredFile(state.new_id("ST01FJ"), given.type, given.name or "file", given.link, body)
    state.files[file.file_id] = file
    return {
        "kakao": {"daou": None, "biztalk": None},
        "type": file.type,
        "originalName": file.name,
        "link": file.link,
        "fileId": file.file_id,
        "name": file.name,
        "url": f"https://storage.invalid/{file.file_id}",
        "accountId": state.account_id,
        "references": [],
        "dateCreated": iso(state.clock()),
        "dateUpdated": iso(state.clock()),
    }
