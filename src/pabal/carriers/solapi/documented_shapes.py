"""What Solapi documents of its answers and webhooks.

D is solapi/documents (2022), N the source of solapi/solapi-nodejs, P that of solapi/solapi-python.
"""

from pabal.carriers.relay.documented_shapes import DocumentedCall, Each, OneOf, RelayDocuments, Shape, codes, fields
from pabal.carriers.solapi.calls import SEND_PATH
from pabal.carriers.solapi.client import UPLOAD_PATH
from pabal.carriers.solapi.lookup import LIST_PATH

_STATUS_CODE = codes(
    str,
    "1010 1011 1013 1014 1020..1034 1041..1053 1058 1060..1062 1064 2000 2011 2024 2060..2064 2230 2254 3000"
    " 3010..3014 3024 3031 3032 3040..3048 3050..3060 3101..3108 4000",
)
"""D message-status-codes.md."""
_FAILED = {
    "statusCode": _STATUS_CODE,
    "customFields?": Each(str),
    **fields(str, "to from type statusMessage country messageId accountId"),
}
"""N responses/sendManyDetailResponse.ts."""
_ACCEPTED = {"messageId": str, "statusCode": _STATUS_CODE, "customFields?": Each(str), "statusMessage": str}
_MONEY = fields(float, "requested replacement refund sum")
_GROUP = {
    "count": fields(
        float,
        "total sentTotal sentFailed sentSuccess sentPending sentReplacement refund registeredFailed"
        " registeredSuccess",
    ),
    "countForCharge": Each(Each(float)),
    "app": {"profit": Each(float)} | fields(str, "appId? version?"),
    "log": [Each(object)],
    "price": Each(object),
    "customFields?": Each(str),
    **fields(_MONEY, "balance point"),
    **fields(bool, "allowDuplicates isRefunded flagUpdated?"),
    **fields(
        str,
        "status accountId masterAccountId? apiVersion groupId dateCreated dateUpdated scheduledDate? dateSent?"
        " dateCompleted? sdkVersion? osPlatform?",
    ),
}
"""N responses/messageResponses.ts; the fields of a new group: D groups/createMessageGroup.md."""
_FLAG: Shape = OneOf((bool, int))
"""N base/messages/storedMessage.ts: "서버가 동일 필드를 boolean 또는 0/1 정수로 섞어 내려주는 경우가 있어"."""
_STORED = {
    "statusCode": _STATUS_CODE,
    "customFields?": Each(str),
    "to?": OneOf((str, [str])),
    "currentQueue?": object,
    **fields(_FLAG, "autoTypeDetect? replacement? unavailableSenderNumber? voiceReplied?"),
    **fields(float, "resendCount? faxPageCount? voiceDuration?"),
    **fields(Each(object), "kakaoOptions? rcsOptions? naverOptions? faxOptions? voiceOptions?"),
    **fields([object], "replacements? log? queues?"),
    **fields(
        str,
        "messageId groupId? type? from? text? imageId? subject? country? accountId? status? reason? networkName?"
        " networkCode? dateCreated? dateUpdated? dateProcessed? dateReceived? dateReported? clusterKey? _id?",
    ),
}
"""N base/messages/storedMessage.ts, which promises none of them; D has those that a result needs."""
_REPORTED = _STORED | {"statusMessage?": str}
"""P model/webhook/single_report.py."""

DOCUMENTS = RelayDocuments(
    [
        DocumentedCall(
            "POST",
            SEND_PATH,
            {"failedMessageList": [_FAILED], "groupInfo": _GROUP, "messageList?": [_ACCEPTED]},
        ),
        DocumentedCall(
            "GET",
            LIST_PATH,
            {"limit": float, "messageList": Each(_STORED)} | fields(str, "startKey? nextKey?"),
        ),
        DocumentedCall(
            "POST",
            UPLOAD_PATH,
            {
                "kakao?": fields(str, "daou? biztalk?"),
                "references?": [str],
                **fields(str, "type originalName link? fileId name url accountId dateCreated? dateUpdated?"),
            },
        ),
    ],
    OneOf(([_REPORTED], [{"eventDataId": str, "data": _REPORTED, "retryCount?": int}])),
    {"errorCode": str, "errorMessage": str},
)
"""Flat reports: N examples/javascript/webhooks/index.js. Wrapped ones: P model/webhook. Files: P model/response."""
