"""Words of uploads."""

from pabal.console.shell.site import FILES_BUSY
from pabal.domain.base.codes import Text

TEXTS = {
    "upload.tab": Text("파일 올리기", "Upload a file"),
    "upload.tab.about": Text(
        "수신자가 많으면 CSV나 엑셀 파일로 올리세요. 위에 작성한 메시지를 발송합니다.",
        "For many receivers, upload a CSV or Excel file. The message written above is sent to them.",
    ),
    "upload.title": Text("여러 명에게 발송", "Send to many receivers"),
    "upload.message": Text("발송할 메시지", "Message"),
    "upload.kind": Text("메시지 종류", "Message type"),
    "upload.upgraded": Text("SMS {sms:,}명 · LMS {lms:,}명", "{sms:,} get an SMS · {lms:,} get an LMS"),
    "upload.upgraded.about": Text(
        "변수를 채운 문자가 SMS 길이(90바이트)를 넘는 수신자에게는 LMS로 발송합니다.",
        "Receivers whose filled-in text is too long for SMS (90 bytes) get an LMS.",
    ),
    "upload.subject": Text("제목", "Subject"),
    "upload.text": Text("내용", "Text"),
    "upload.file": Text("수신자 파일", "Receiver file"),
    "upload.columns": Text(
        "필요한 열: {names}. 이름이 다르면 파일을 고른 다음 열을 연결하세요. 그 밖의 열은 무시합니다.",
        "Required columns: {names}. If they have other names, choose the file, then say what its columns hold.",
    ),
    "upload.limits": Text(
        "CSV 또는 엑셀(.xlsx) 파일을 {rows:,}행, {megabytes} MB까지 올릴 수 있습니다.",
        "CSV or Excel (.xlsx), up to {rows:,} rows and {megabytes} MB.",
    ),
    "upload.template": Text("양식 내려받기 (CSV)", "Download sample file (CSV)"),
    "upload.choose": Text("파일 선택", "Choose a file"),
    "upload.once": Text("같은 번호에는 한 번만 발송", "Send once per number"),
    "upload.do": Text("파일 올리고 확인", "Upload and check"),
    "upload.again": Text("다른 파일 올리기", "Upload another file"),
    "upload.sending": Text("올리는 중: {percent}%", "Uploading: {percent} %"),
    "upload.failed": Text(
        "파일을 올리지 못했습니다. 아무것도 발송되지 않았습니다. 연결과 파일을 확인하고 다시 시도하세요.",
        "The upload failed. Nothing was sent. Check the connection and the file, then try again.",
    ),
    "upload.too_large": Text(
        "파일이 너무 큽니다. 나누어 올리세요.", "The file is too large. Split it into smaller files."
    ),
    "upload.busy": FILES_BUSY,
    "upload.old_page": Text(
        "로그인이나 발송 상태가 바뀌었습니다. 화면을 새로 고치세요.",
        "Your sign-in or the status has changed. Reload the page.",
    ),
    "upload.checking": Text("파일을 확인하고 있습니다", "Checking the file"),
    "upload.checked_rows": Text(
        "{rows:,}행 확인 · 발송 가능 {good:,} · 발송 불가 {bad:,}",
        "{rows:,} rows checked · {good:,} valid · {bad:,} invalid",
    ),
    "upload.stale": Text(
        "파일 확인이 중단되었습니다. 파일을 다시 올리세요.", "The check was interrupted. Upload the file again."
    ),
    "upload.refused": Text("이 파일은 사용할 수 없습니다.", "This file cannot be used."),
    "upload.result": Text("확인 결과", "Result"),
    "upload.file_name": Text("파일·그룹", "File or group"),
    "upload.good": Text("발송 가능", "Valid"),
    "upload.bad": Text("발송 불가", "Invalid"),
    "upload.duplicates": Text("중복된 번호", "Duplicate numbers"),
    "upload.duplicates.out": Text("{count:,}건 (한 번만 발송)", "{count:,} (sent once)"),
    "upload.duplicates.in": Text("{count:,}건 (모두 발송)", "{count:,} (sent each time)"),
    "upload.unused": Text("무시한 열", "Ignored columns"),
    "upload.people": Text("{count:,}명", "{count:,}"),
    "upload.bad.title": Text("발송할 수 없는 행", "Invalid rows"),
    "upload.bad.file": Text("발송할 수 없는 행 내려받기 (CSV)", "Download invalid rows (CSV)"),
    "upload.bad.more": Text(
        "처음 {shown}행만 표시합니다. 전체는 파일에서 확인하세요.",
        "The first {shown} are shown. Download the file to see all.",
    ),
    "upload.row": Text("행", "Row"),
    "upload.cells": Text("파일의 값", "Values in the file"),
    "upload.reason": Text("사유", "Reason"),
    "upload.nobody": Text(
        "발송할 수 있는 행이 없습니다. 파일을 고쳐 다시 올리세요.",
        "There are no valid rows. Correct the file and upload it again.",
    ),
    "upload.last": Text("발송", "Send"),
    "upload.first": Text("첫 수신자({receiver})가 받을 메시지", "The message for the first receiver ({receiver})"),
    "upload.name": Text("캠페인 이름", "Campaign name"),
    "upload.later": Text("예약 발송", "Schedule"),
    "upload.when": Text("예약 시각 ({zone})", "Date and time ({zone})"),
    "upload.do_send": Text("{count:,}명에게 발송", "Send to {count:,}"),
    "approval.title": Text("승인 대기", "Waiting for approval"),
    "approval.about": Text(
        "아래 내용 그대로 발송됩니다. 확인하고 승인하거나 돌려보내세요.",
        "It is sent exactly as shown below. Look at it, then approve it or send it back.",
    ),
    "approval.own": Text(
        "다른 사용자가 승인하면 발송합니다. 바꾸려면 되돌리고, 바꾼 다음 다시 승인을 요청하세요.",
        "It is sent as soon as another user approves it. To change it, take it back and submit it again.",
    ),
    "approval.nobody": Text(
        "이 계정에 승인할 수 있는 다른 사용자(관리자·발송 담당)가 없습니다.",
        "The account has no other user who could approve it (an owner or a sender).",
    ),
    "approval.needed": Text(
        "{count}명에게 보내려면 다른 사용자의 승인이 필요합니다.",
        "A send to {count} receivers needs the approval of a second user.",
    ),
    "approval.submit": Text("{count:,}명 발송 승인 요청", "Submit for approval ({count:,})"),
    "approval.submitter": Text("요청한 사람", "Submitted by"),
    "approval.at_once": Text("승인하면 바로", "As soon as it is approved"),
    "approval.approve": Text("승인하고 {count:,}명에게 발송", "Approve and send to {count:,}"),
    "approval.refuse": Text("돌려보내기", "Send back"),
    "approval.refuse.do": Text("예, 돌려보냅니다", "Yes, send it back"),
    "approval.comment": Text("돌려보내는 이유", "Reason"),
    "approval.withdraw": Text("승인 요청 되돌리기", "Take it back"),
    "upload.discard": Text("삭제", "Discard"),
    "upload.discard.ask": Text(
        "올린 파일과 작성한 내용을 삭제하시겠습니까? 되돌릴 수 없습니다.",
        "Discard the file and the message? This cannot be undone.",
    ),
    "upload.discard.yes": Text("예, 삭제합니다", "Yes, discard"),
}
