"""What NHN Cloud documents of its answers and webhooks.

Texts: TOAST-DOCS/SMS, ko/api-guide.md, ko/webhook.md, ko/error-code.md. KakaoTalk Bizmessage: TOAST-DOCS/Alimtalk,
ko/alimtalk-api-guide.md, ko/friendtalk-api-guide.md, ko/friendtalkupgrade-api-guide.md, ko/webhook-api-guide.md and
ko/error-code.md. A field whose column "Not Null" is empty or X may be missing.
"""

from pabal.carriers.relay.documented_shapes import DocumentedCall, OneOf, RelayDocuments, Shape, codes, fields

_SMS_ERROR = codes(
    int,
    "0 4 -1000..1008 -2000..2006 -2008..2012 -2014..2019 -2021..2024 -2043..2048 -2050..2053 -2100..2112"
    " -2114..2117 -2200..2206 -2312 -2313 -2700 -2701 -2703 -2704 -2706 -4000 -6000 -6001 -6003 -6004 -7000..7002"
    " -8000 -9995..9999",
)
"""SMS ko/error-code.md, "API 결과 코드"."""
_SMS_RESULT = codes(str, "1000..1003 1019 2000..2007 3000..3019 4001..4010 E900 E911 E913 E915 E919 E999")
"""The same page, "수신 결과 코드"."""
_TALK_ERROR = codes(
    int,
    "0 4 -1000..1003 -1005 -1006 -1010 -1013 -1014 -1016 -1018..1020 -1022..1031 -2000..2005 -2017..2019"
    " -2023..2037 -2500..2502 -2504 -2505 -3000..3013 -3016..3018 -3020 -3021 -3024..3028 -3030 -3032..3053"
    " -3100..3103 -3200..3213 -3215..3226 -3298..3301 -3303..3328 -3330..3338 -3340..3345 -3347..3349 -4000"
    " -4003..4005 -4007 -4009..4011 -4014 -4016..4029 -4101 -4103..4105 -4200 -5000 -7000 -8000..8013 -9992..9994"
    " -9996..9999",
)
"""Alimtalk ko/error-code.md, "API 응답 코드"."""
_TALK_RESULT = codes(
    str,
    "1000..1004 1006 1007 1011..1016 1020..1025 1027 1028 1030 1033 2001 2003 2005 3000 3005 3006 3008 3010..3016"
    " 3018..3048 3050..3058 4000 4001 4100..4104 4110 4120..4122 4130..4134 4137..4144 4156 4161 9998 9999",
)
"""The same page, "발송 결과 코드"."""
_STATUS = codes(str, "READY COMPLETED FAILED CANCEL DUPLICATED FAILED_AD")
"""READY is that of recipients of "대량 발송 수신자 조회" which have not been sent yet."""


def _answer(error: Shape, **fields: Shape) -> Shape:
    header = {"isSuccessful": bool, "resultCode": error, "resultMessage": str}
    return {"header": header} | {f"{name}?": shape for name, shape in fields.items()}


_SMS_SENT = _answer(
    _SMS_ERROR,
    body={
        "data": {
            "statusCode": codes(str, "1 2 3"),
            "sendResultList": [
                fields(str, "recipientNo resultMessage? recipientGroupingKey?")
                | {"resultCode?": _SMS_ERROR, "recipientSeq": int}
            ],
            **fields(str, "requestId senderGroupingKey?"),
        }
    },
)
_PAGE = fields(int, "pageNum pageSize totalCount")
_SMS_LISTED = {
    "msgStatus": codes(str, "0 1 2 3 4 5 6"),
    "resultCode?": _SMS_RESULT,
    "sendType": codes(str, "0 1 2"),
    "messageType": codes(str, "SMS LMS MMS AUTH"),
    "adYn": codes(str, "Y N"),
    **fields(int, "categoryId? telecomCode? recipientSeq messageCount"),
    **fields(
        str,
        "requestId requestDate resultDate? templateId? templateName? categoryName? body sendNo countryCode"
        " recipientNo msgStatusName resultCodeName? telecomCodeName? userId? resultMessage? senderGroupingKey?"
        " recipientGroupingKey?",
    ),
}
_FILE = {"fileId": int} | fields(str, "filePath? fileName? filename? saveFileName?")
_MMS_LISTED = _SMS_LISTED | {"title?": str, "attachFileList?": [_FILE | {"uploadType?": str}]}
_SMS_UPDATED = {
    "messageType": codes(str, "SMS LMS MMS AUTH"),
    "recipientSeq": int,
    "resultCode?": _SMS_RESULT,
    **fields(
        str,
        "requestId resultCodeName? requestDate resultDate? updateDate? telecomCode? telecomCodeName?"
        " senderGroupingKey? recipientGroupingKey?",
    ),
}
_SMS_UPDATES = OneOf((_PAGE | {"data": [_SMS_UPDATED]}, {"data": {"resultUpdateList": [_SMS_UPDATED]}}))
"""The page's example and its table differ."""
_RECEIVER = {"recipientSeq": int, "recipientNo?": str, "resultCode": _TALK_ERROR, "resultMessage": str}
_TALK_SENT = _answer(
    _TALK_ERROR,
    message=fields(str, "requestId? senderGroupingKey?")
    | {"sendResults": [_RECEIVER | {"recipientGroupingKey?": str}]},
)
_BRAND_SENT = _answer(_TALK_ERROR, message={"requestId?": str, "sendResults": [_RECEIVER]})
_RESULT = fields(str, "requestId requestDate resultCodeName?") | {
    "recipientSeq": int,
    "messageStatus": _STATUS,
    "resultCode?": _TALK_RESULT,
}
_GROUPS = fields(str, "senderGroupingKey? recipientGroupingKey?")
_RESEND = {"resendStatus": codes(str, "RSC01 RSC02 RSC03 RSC04 RSC05"), "resendStatusName": str}
_RESENT = fields(str, "resendResultCode? resendRequestId?")
_ALIMTALK_UPDATED = _RESULT | _RESEND | _RESENT | fields(str, "createDate receiveDate?")
_TALK_LISTED = _RESULT | _RESEND | _GROUPS | fields(str, "plusFriendId senderKey receiveDate? content?")
_ALIMTALK_LISTED = _TALK_LISTED | fields(str, "templateCode recipientNo createDate createUser?")
_FRIENDTALK_UPDATED = _TALK_LISTED | fields(str, "recipientNo?")
_FRIENDTALK_LISTED = _FRIENDTALK_UPDATED | fields(str, "createDate createUser?")
_BRAND = _RESULT | _GROUPS | {"targeting": codes(str, "M N I"), "isAddedChannel": bool}
_BRAND_UPDATED = _BRAND | fields(str, "plusFriendId recipientNo resendStatus? resendStatusName?")
_BRAND_LISTED = (
    _BRAND
    | _RESENT
    | {"pushAlarm": bool}
    | fields(
        str,
        "plusFriendId recipientNo resendStatusName? senderKey templateCode? createDate receiveDate? chatBubbleType"
        " resendStatusCode? createUser?",
    )
)
_IMAGE = _answer(_TALK_ERROR, image={"imageSeq": int, "imageUrl": str, "imageName?": str})


def _listed(row: Shape) -> Shape:
    return _answer(_TALK_ERROR, messageSearchResultResponse={"messages?": [row], "totalCount?": int})


def _hooks(hook: Shape, event: str) -> Shape:
    return {
        "event": codes(str, event),
        "hooks": [{"hookId": str} | hook],
        **fields(str, "hooksId webhookConfigId productName appKey"),
    }


_LINK = {"self": {"href": str}}
_SMS_HOOK = {
    "messageStatus": _STATUS,
    "resultCode": _SMS_RESULT,
    **fields(_LINK, "_links? _link?"),
    **fields(int, "recipientSeq messageCount"),
    **fields(
        str,
        "senderType requestId requestDate receiveDate? sendNo recipientNo recipientGroupingKey?"
        " recipientGropuingKey? senderGroupingKey?",
    ),
}
"""The page's table and its example spell two names differently; both are taken as documented."""
_TALK_HOOK = _GROUPS | {
    "kakaoMessageType": codes(
        str,
        "ALIMTALK_NORMAL ALIMTALK_AUTH ALIMTALK_MASS FRIENDTALK_NORMAL FRIENDTALK_MASS BRAND_MESSAGE_NORMAL"
        " BRAND_MESSAGE_MASS",
    ),
    "recipientSeq": int,
    "resultCode": _TALK_RESULT,
    "isAddedChannel?": bool,
    "_links": _LINK,
    **fields(str, "requestId requestDate createDate receiveDate? recipientNo"),
}
_OPT_OUT_HOOK = fields(str, "recipientNo unsubscribeNo enterpriseName createdDateTime")

_CALLS = {
    "/sms/v3.0/appKeys/{appKey}": (
        ("POST", "sender/{kind}", _SMS_SENT),
        ("POST", "sender/auth/sms", _SMS_SENT),
        (
            "POST",
            "attachfile/binaryUpload",
            _answer(_SMS_ERROR, body={"data": {"fileId": int} | fields(str, "fileName? filePath?")}),
        ),
        ("GET", "sender/sms", _answer(_SMS_ERROR, body=_PAGE | {"data": [_SMS_LISTED]})),
        ("GET", "sender/auth/sms", _answer(_SMS_ERROR, body=_PAGE | {"data": [_SMS_LISTED]})),
        ("GET", "sender/mms", _answer(_SMS_ERROR, body=_PAGE | {"data": [_MMS_LISTED]})),
        ("GET", "message-results", _answer(_SMS_ERROR, body=_SMS_UPDATES)),
    ),
    "/alimtalk/v2.3/appkeys/{appkey}": (
        ("POST", "raw-messages", _TALK_SENT),
        ("POST", "auth/raw-messages", _TALK_SENT),
        ("GET", "messages", _listed(_ALIMTALK_LISTED)),
        ("GET", "auth/messages", _listed(_ALIMTALK_LISTED)),
        ("GET", "message-results", _answer(_TALK_ERROR, messages=[_ALIMTALK_UPDATED])),
    ),
    "/friendtalk/v2.4/appkeys/{appkey}": (
        ("POST", "messages", _TALK_SENT),
        ("POST", "images", _IMAGE),
        ("GET", "messages", _listed(_FRIENDTALK_LISTED)),
        ("GET", "message-results", _listed(_FRIENDTALK_UPDATED)),
    ),
    "/brand-message/v1.0/appkeys/{appkey}": (
        ("POST", "freestyle-messages", _BRAND_SENT),
        ("POST", "images", _IMAGE),
        ("GET", "messages", _listed(_BRAND_LISTED)),
        ("GET", "message-results", _listed(_BRAND_UPDATED)),
    ),
}

DOCUMENTS = RelayDocuments(
    [
        DocumentedCall(method, f"{base}/{path}", shape)
        for base, calls in _CALLS.items()
        for method, path, shape in calls
    ],
    OneOf(
        (
            _hooks(_SMS_HOOK, "MESSAGE_RESULT_UPDATE"),
            _hooks(_TALK_HOOK, "MESSAGE_RESULT_UPDATE"),
            _hooks(_OPT_OUT_HOOK, "UNSUBSCRIBE"),
        )
    ),
)
