"""What NHN Cloud documents of its answers and webhooks.

Texts: TOAST-DOCS/SMS, ko/api-guide.md, ko/webhook.md, ko/error-code.md. KakaoTalk Bizmessage: TOAST-DOCS/Alimtalk,
ko/alimtalk-api-guide.md, ko/friendtalk-api-guide.md, ko/friendtalkupgrade-api-guide.md, ko/webhook-api-guide.md and
ko/error-code.md. A field whose column "Not Null" is empty or X may be missing.
"""

from pabal.carriers.relay.documented import DocumentedCall, OneOf, RelayDocuments, Shape, codes

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
            "requestId": str,
            "statusCode": codes(str, "1 2 3"),
            "senderGroupingKey?": str,
            "sendResultList": [
                {
                    "recipientNo": str,
                    "resultCode?": _SMS_ERROR,
                    "resultMessage?": str,
                    "recipientSeq": int,
                    "recipientGroupingKey?": str,
                }
            ],
        }
    },
)
_PAGE = {"pageNum": int, "pageSize": int, "totalCount": int}
_SMS_LISTED = {
    "requestId": str,
    "requestDate": str,
    "resultDate?": str,
    "templateId?": str,
    "templateName?": str,
    "categoryId?": int,
    "categoryName?": str,
    "body": str,
    "sendNo": str,
    "countryCode": str,
    "recipientNo": str,
    "msgStatus": codes(str, "0 1 2 3 4 5 6"),
    "msgStatusName": str,
    "resultCode?": _SMS_RESULT,
    "resultCodeName?": str,
    "telecomCode?": int,
    "telecomCodeName?": str,
    "recipientSeq": int,
    "sendType": codes(str, "0 1 2"),
    "messageType": codes(str, "SMS LMS MMS AUTH"),
    "messageCount": int,
    "userId?": str,
    "adYn": codes(str, "Y N"),
    "resultMessage?": str,
    "senderGroupingKey?": str,
    "recipientGroupingKey?": str,
}
_FILE = {"fileId": int, "filePath?": str, "fileName?": str, "filename?": str, "saveFileName?": str}
_MMS_LISTED = _SMS_LISTED | {"title?": str, "attachFileList?": [_FILE | {"uploadType?": str}]}
_SMS_UPDATED = {
    "messageType": codes(str, "SMS LMS MMS AUTH"),
    "requestId": str,
    "recipientSeq": int,
    "resultCode?": _SMS_RESULT,
    "resultCodeName?": str,
    "requestDate": str,
    "resultDate?": str,
    "updateDate?": str,
    "telecomCode?": str,
    "telecomCodeName?": str,
    "senderGroupingKey?": str,
    "recipientGroupingKey?": str,
}
_SMS_UPDATES = OneOf((_PAGE | {"data": [_SMS_UPDATED]}, {"data": {"resultUpdateList": [_SMS_UPDATED]}}))
"""The page's example and its table differ."""
_RECEIVER = {"recipientSeq": int, "recipientNo?": str, "resultCode": _TALK_ERROR, "resultMessage": str}
_TALK_SENT = _answer(
    _TALK_ERROR,
    message={
        "requestId?": str,
        "senderGroupingKey?": str,
        "sendResults": [_RECEIVER | {"recipientGroupingKey?": str}],
    },
)
_BRAND_SENT = _answer(_TALK_ERROR, message={"requestId?": str, "sendResults": [_RECEIVER]})
_RESULT = {
    "requestId": str,
    "recipientSeq": int,
    "requestDate": str,
    "messageStatus": _STATUS,
    "resultCode?": _TALK_RESULT,
    "resultCodeName?": str,
}
_GROUPS = {"senderGroupingKey?": str, "recipientGroupingKey?": str}
_RESEND = {"resendStatus": codes(str, "RSC01 RSC02 RSC03 RSC04 RSC05"), "resendStatusName": str}
_RESENT = {"resendResultCode?": str, "resendRequestId?": str}
_ALIMTALK_UPDATED = _RESULT | _RESEND | _RESENT | {"createDate": str, "receiveDate?": str}
_ALIMTALK_LISTED = (
    _RESULT
    | _RESEND
    | _GROUPS
    | {
        "plusFriendId": str,
        "senderKey": str,
        "templateCode": str,
        "recipientNo": str,
        "content?": str,
        "createDate": str,
        "receiveDate?": str,
        "createUser?": str,
    }
)
_FRIENDTALK_UPDATED = (
    _RESULT
    | _RESEND
    | _GROUPS
    | {
        "plusFriendId": str,
        "senderKey": str,
        "recipientNo?": str,
        "receiveDate?": str,
        "content?": str,
    }
)
_FRIENDTALK_LISTED = _FRIENDTALK_UPDATED | {"createDate": str, "createUser?": str}
_BRAND_UPDATED = (
    _RESULT
    | _GROUPS
    | {
        "plusFriendId": str,
        "recipientNo": str,
        "targeting": codes(str, "M N I"),
        "isAddedChannel": bool,
        "resendStatus?": str,
        "resendStatusName?": str,
    }
)
_BRAND_LISTED = (
    {name: shape for name, shape in _BRAND_UPDATED.items() if name != "resendStatus?"}
    | _RESENT
    | {
        "senderKey": str,
        "templateCode?": str,
        "createDate": str,
        "receiveDate?": str,
        "chatBubbleType": str,
        "pushAlarm": bool,
        "resendStatusCode?": str,
        "createUser?": str,
    }
)
_IMAGE = _answer(_TALK_ERROR, image={"imageSeq": int, "imageUrl": str, "imageName?": str})


def _listed(row: Shape) -> Shape:
    return _answer(_TALK_ERROR, messageSearchResultResponse={"messages?": [row], "totalCount?": int})


def _hooks(hook: Shape, event: str) -> Shape:
    return {
        "hooksId": str,
        "webhookConfigId": str,
        "productName": str,
        "appKey": str,
        "event": codes(str, event),
        "hooks": [{"hookId": str} | hook],
    }


_LINK = {"self": {"href": str}}
_SMS_HOOK = {
    "senderType": str,
    "requestId": str,
    "recipientSeq": int,
    "requestDate": str,
    "receiveDate?": str,
    "sendNo": str,
    "recipientNo": str,
    "messageStatus": _STATUS,
    "recipientGroupingKey?": str,
    "recipientGropuingKey?": str,
    "senderGroupingKey?": str,
    "resultCode": _SMS_RESULT,
    "messageCount": int,
    "_links?": _LINK,
    "_link?": _LINK,
}
"""The page's table and its example spell two names differently; both are taken as documented."""
_TALK_HOOK = _GROUPS | {
    "kakaoMessageType": codes(
        str,
        "ALIMTALK_NORMAL ALIMTALK_AUTH ALIMTALK_MASS FRIENDTALK_NORMAL FRIENDTALK_MASS BRAND_MESSAGE_NORMAL"
        " BRAND_MESSAGE_MASS",
    ),
    "requestId": str,
    "recipientSeq": int,
    "requestDate": str,
    "createDate": str,
    "receiveDate?": str,
    "recipientNo": str,
    "resultCode": _TALK_RESULT,
    "isAddedChannel?": bool,
    "_links": _LINK,
}
_OPT_OUT_HOOK = {"recipientNo": str, "unsubscribeNo": str, "enterpriseName": str, "createdDateTime": str}

_SMS = "/sms/v3.0/appKeys/{appKey}"
_ALIMTALK = "/alimtalk/v2.3/appkeys/{appkey}"
_FRIENDTALK = "/friendtalk/v2.4/appkeys/{appkey}"
_BRAND = "/brand-message/v1.0/appkeys/{appkey}"

DOCUMENTS = RelayDocuments(
    [
        DocumentedCall("POST", f"{_SMS}/sender/{{kind}}", _SMS_SENT),
        DocumentedCall("POST", f"{_SMS}/sender/auth/sms", _SMS_SENT),
        DocumentedCall(
            "POST",
            f"{_SMS}/attachfile/binaryUpload",
            _answer(_SMS_ERROR, body={"data": {"fileId": int, "fileName?": str, "filePath?": str}}),
        ),
        DocumentedCall("GET", f"{_SMS}/sender/sms", _answer(_SMS_ERROR, body=_PAGE | {"data": [_SMS_LISTED]})),
        DocumentedCall("GET", f"{_SMS}/sender/auth/sms", _answer(_SMS_ERROR, body=_PAGE | {"data": [_SMS_LISTED]})),
        DocumentedCall("GET", f"{_SMS}/sender/mms", _answer(_SMS_ERROR, body=_PAGE | {"data": [_MMS_LISTED]})),
        DocumentedCall("GET", f"{_SMS}/message-results", _answer(_SMS_ERROR, body=_SMS_UPDATES)),
        DocumentedCall("POST", f"{_ALIMTALK}/raw-messages", _TALK_SENT),
        DocumentedCall("POST", f"{_ALIMTALK}/auth/raw-messages", _TALK_SENT),
        DocumentedCall("GET", f"{_ALIMTALK}/messages", _listed(_ALIMTALK_LISTED)),
        DocumentedCall("GET", f"{_ALIMTALK}/auth/messages", _listed(_ALIMTALK_LISTED)),
        DocumentedCall("GET", f"{_ALIMTALK}/message-results", _answer(_TALK_ERROR, messages=[_ALIMTALK_UPDATED])),
        DocumentedCall("POST", f"{_FRIENDTALK}/messages", _TALK_SENT),
        DocumentedCall("POST", f"{_FRIENDTALK}/images", _IMAGE),
        DocumentedCall("GET", f"{_FRIENDTALK}/messages", _listed(_FRIENDTALK_LISTED)),
        DocumentedCall("GET", f"{_FRIENDTALK}/message-results", _listed(_FRIENDTALK_UPDATED)),
        DocumentedCall("POST", f"{_BRAND}/freestyle-messages", _BRAND_SENT),
        DocumentedCall("POST", f"{_BRAND}/images", _IMAGE),
        DocumentedCall("GET", f"{_BRAND}/messages", _listed(_BRAND_LISTED)),
        DocumentedCall("GET", f"{_BRAND}/message-results", _listed(_BRAND_UPDATED)),
    ],
    OneOf(
        (
            _hooks(_SMS_HOOK, "MESSAGE_RESULT_UPDATE"),
            _hooks(_TALK_HOOK, "MESSAGE_RESULT_UPDATE"),
            _hooks(_OPT_OUT_HOOK, "UNSUBSCRIBE"),
        )
    ),
)
