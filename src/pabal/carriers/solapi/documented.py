"""What Solapi documents of its answers and webhooks.

D is solapi/documents (2022), N the source of solapi/solapi-nodejs, P that of solapi/solapi-python.
"""

from pabal.carriers.relay.documented import DocumentedCall, Each, OneOf, RelayDocuments, Shape, codes
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
    "to": str,
    "from": str,
    "type": str,
    "statusMessage": str,
    "country": str,
    "messageId": str,
    "statusCode": _STATUS_CODE,
    "accountId": str,
    "customFields?": Each(str),
}
"""N responses/sendManyDetailResponse.ts."""
_ACCEPTED = {"messageId": str, "statusCode": _STATUS_CODE, "customFields?": Each(str), "statusMessage": str}
_MONEY = {"requested": float, "replacement": float, "refund": float, "sum": float}
_GROUP = {
    "count": {
        "total": float,
        "sentTotal": float,
        "sentFailed": float,
        "sentSuccess": float,
        "sentPending": float,
        "sentReplacement": float,
        "refund": float,
        "registeredFailed": float,
        "registeredSuccess": float,
    },
    "countForCharge": Each(Each(float)),
    "balance": _MONEY,
    "point": _MONEY,
    "app": {"profit": Each(float), "appId?": str, "version?": str},
    "log": [Each(object)],
    "status": str,
    "allowDuplicates": bool,
    "isRefunded": bool,
    "accountId": str,
    "masterAccountId?": str,
    "apiVersion": str,
    "groupId": str,
    "price": Each(object),
    "dateCreated": str,
    "dateUpdated": str,
    "scheduledDate?": str,
    "dateSent?": str,
    "dateCompleted?": str,
    "sdkVersion?": str,
    "osPlatform?": str,
    "flagUpdated?": bool,
    "customFields?": Each(str),
}
"""N responses/messageResponses.ts; the last four: D groups/createMessageGroup.md."""
_FLAG: Shape = OneOf((bool, int))
"""N base/messages/storedMessage.ts: "서버가 동일 필드를 boolean 또는 0/1 정수로 섞어 내려주는 경우가 있어"."""
_OPTIONS = Each(object)
_STORED = {
    "messageId": str,
    "statusCode": _STATUS_CODE,
    "customFields?": Each(str),
    "groupId?": str,
    "type?": str,
    "to?": OneOf((str, [str])),
    "from?": str,
    "text?": str,
    "imageId?": str,
    "subject?": str,
    "country?": str,
    "accountId?": str,
    "status?": str,
    "reason?": str,
    "networkName?": str,
    "networkCode?": str,
    "autoTypeDetect?": _FLAG,
    "replacement?": _FLAG,
    "resendCount?": float,
    "dateCreated?": str,
    "dateUpdated?": str,
    "dateProcessed?": str,
    "dateReceived?": str,
    "dateReported?": str,
    "kakaoOptions?": _OPTIONS,
    "rcsOptions?": _OPTIONS,
    "naverOptions?": _OPTIONS,
    "faxOptions?": _OPTIONS,
    "voiceOptions?": _OPTIONS,
    "replacements?": [object],
    "log?": [object],
    "queues?": [object],
    "currentQueue?": object,
    "clusterKey?": str,
    "unavailableSenderNumber?": _FLAG,
    "faxPageCount?": float,
    "voiceDuration?": float,
    "voiceReplied?": _FLAG,
    "_id?": str,
}
"""N base/messages/storedMessage.ts, which promises none of them; a result needs the first two, and D has them."""
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
            {"startKey?": str, "nextKey?": str, "limit": float, "messageList": Each(_STORED)},
        ),
        DocumentedCall(
            "POST",
            UPLOAD_PATH,
            {
                "kakao?": {"daou?": str, "biztalk?": str},
                "type": str,
                "originalName": str,
                "link?": str,
                "fileId": str,
                "name": str,
                "url": str,
                "accountId": str,
                "references?": [str],
                "dateCreated?": str,
                "dateUpdated?": str,
            },
        ),
    ],
    OneOf(([_REPORTED], [{"eventDataId": str, "data": _REPORTED, "retryCount?": int}])),
    {"errorCode": str, "errorMessage": str},
)
"""Flat reports: N examples/javascript/webhooks/index.js. Wrapped ones: P model/webhook. Files: P model/response."""
