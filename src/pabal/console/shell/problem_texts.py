"""What is wrong with a field, in one sentence that names it."""

import re
from collections.abc import Iterable

from pabal.domain.base.codes import Code, Problem, Text
from pabal.domain.content import button

_GENERAL = (Code.MISSING_PARAMETER, Code.INVALID_PARAMETER, Code.INVALID_BUTTON, Code.INVALID_DATE)
"""Codes whose sentence says less than any detail."""
_PLACE = re.compile(r"\[[0-9]+\]", re.ASCII)
_FINALS = 28
"""A Hangul syllable has one of so many final consonants; the first is none."""
LABELS = {
    "account": Text("계정", "the account"),
    "adSender": Text("광고 보내는 이", "who sends the advertisement"),
    "address": Text("메일 주소", "the mail address"),
    "androidUrl": Text("Android 앱 링크", "the Android app link"),
    "category": Text("카테고리", "the category"),
    "cellphone": Text("관리자 휴대폰 번호", "the manager's mobile number"),
    "channelId": Text("채널 검색용 아이디", "the channel id"),
    "code": Text("인증 코드", "the code"),
    "columns": Text("열", "the columns"),
    "comment": Text("사유", "the reason"),
    "content": Text("내용", "the text"),
    "current": Text("현재 비밀번호", "the current password"),
    "description": Text("설명", "the description"),
    "events": Text("받을 알림", "the events"),
    "fallback_number": Text("대체 문자의 발신번호", "the sender number of the fallback"),
    "file": Text("파일", "the file"),
    "group": Text("그룹", "the group"),
    "header": Text("헤더", "the header"),
    "highlight": Text("강조 제목", "the highlight"),
    "image": Text("이미지", "the picture"),
    "imageUrl": Text("이미지 주소", "the address of the picture"),
    "images": Text("이미지", "the picture"),
    "iosUrl": Text("iOS 앱 링크", "the iOS app link"),
    "itemList": Text("아이템 리스트", "the item list"),
    "messageType": Text("메시지 유형", "the message type"),
    "mobileUrl": Text("모바일 링크", "the mobile link"),
    "moreInfo": Text("부가 정보", "the extra information"),
    "name": Text("이름", "the name"),
    "number": Text("번호", "the number"),
    "optOutAuthNumber": Text("수신거부 인증번호", "the opt-out code"),
    "optOutNumber": Text("수신거부 번호", "the opt-out number"),
    "password": Text("비밀번호", "the password"),
    "pcUrl": Text("PC 링크", "the PC link"),
    "phoneNumber": Text("휴대폰 번호", "the mobile number"),
    "rate": Text("초당 요청", "the requests a second"),
    "reason": Text("사유", "the reason"),
    "receiver": Text("수신번호", "the receiver"),
    "receivers": Text("수신자", "the receivers"),
    "repeated": Text("비밀번호 확인", "the password again"),
    "resendContent": Text("대체 문자의 내용", "the text of the fallback"),
    "resendPhoneNumber": Text("대체 문자의 발신번호", "the sender number of the fallback"),
    "role": Text("역할", "the role"),
    "sendDate": Text("예약 시각", "the time"),
    "sender": Text("발신번호", "the sender number"),
    "senderKey": Text("발신 프로필", "the sender profile"),
    "subject": Text("제목", "the subject"),
    "subtitle": Text("강조 부제", "the subtitle"),
    "templateCode": Text("템플릿 코드", "the template code"),
    "text_name": Text("보관할 이름", "the name of the saved text"),
    "title": Text("강조 제목", "the title"),
    "token": Text("인증번호", "the token"),
    "url": Text("주소(URL)", "the URL"),
    "user": Text("사용자", "the user"),
}
"""What a field is called where people fill it in; English with its article."""

RECEIVER_FIELD = "receivers["
"""How the path of a receiver's field begins."""
CHOSEN = ("category", "events", "file", "group", "image", "images", "role", "senderKey", "user")
"""Fields that are chosen, not typed."""


def is_missing(problem: Problem) -> bool:
    """Return whether something is wrong only because nothing was typed yet."""
    return problem.code is Code.MISSING_PARAMETER or problem.detail == button.REQUIRED


def spell_problem(problem: Problem) -> Text:
    """Return a problem as one sentence: the detail where that is one, else what the field needs."""
    detail = None if problem.detail == button.REQUIRED else problem.detail
    if detail and (problem.code in _GENERAL or detail.ko.endswith(".")):
        return detail
    label = find_label(problem.field)
    ko, en = (add_object_particle(label.ko), label.en) if label else ("", "")
    if is_missing(problem) and label:
        if problem.field in CHOSEN:
            return Text(f"{ko} 고르세요.", f"Choose {en}.")
        return Text(f"{ko} 입력하세요.", f"Enter {en}.")
    if label and detail is None and problem.code is Code.INVALID_PARAMETER:
        return Text(f"{ko} 확인하세요.", f"Check {en}.")
    return Text(problem.message("ko"), problem.message("en"))


def group_by_receiver(problems: Iterable[Problem]) -> tuple[dict[int, list[Problem]], list[Problem]]:
    """Return the problems of each receiver, by index, and those of anything else."""
    found: dict[int, list[Problem]] = {}
    others: list[Problem] = []
    for each in problems:
        if each.field.startswith(RECEIVER_FIELD):
            index = int(each.field[len(RECEIVER_FIELD) :].split("]")[0])
            found.setdefault(index, []).append(each)
        else:
            others.append(each)
    return found, others


def find_label(field: str) -> Text | None:
    """Return what a field is called, by the last part of its path; None where nobody fills it in."""
    return LABELS.get(_PLACE.sub("", field).rpartition(".")[2])


def add_object_particle(word: str) -> str:
    """Return a Korean word with the particle of an object."""
    last = word[-1:] if word[-1:] != ")" else word.rpartition("(")[0][-1:]
    has_final = "가" <= last <= "힣" and (ord(last) - ord("가")) % _FINALS
    return f"{word}{'을' if has_final else '를'}"
