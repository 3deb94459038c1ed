"""Words of uploads."""

from pabal.domain.codes import Text

TEXTS = {
    "upload.tab": Text("파일 올리기", "Upload a file"),
    "upload.tab.about": Text(
        "수신자가 많으면 CSV나 Excel 파일로 올리세요. 위에 작성한 내용으로 보냅니다.",
        "For many receivers, upload a CSV or Excel file; the message is the one written above.",
    ),
    "upload.title": Text("파일로 보내기", "Send to a file of receivers"),
    "upload.message": Text("보낼 내용", "The message"),
    "upload.kind": Text("종류", "Kind"),
    "upload.subject": Text("제목", "Subject"),
    "upload.text": Text("내용", "Text"),
    "upload.file": Text("수신자 파일", "File of receivers"),
    "upload.columns": Text(
        "첫 행은 열 이름이어야 합니다. 필요한 열: {names}. 그 밖의 열은 무시합니다.",
        "The first row names the columns. Needed: {names}. Other columns are ignored.",
    ),
    "upload.limits": Text(
        "CSV 또는 Excel(.xlsx) 파일을 {rows:,}행, {megabytes} MB까지 올릴 수 있습니다.",
        "CSV or Excel (.xlsx), up to {rows:,} rows and {megabytes} MB.",
    ),
    "upload.template": Text("양식 내려받기 (CSV)", "Download the template file (CSV)"),
    "upload.choose": Text("파일 선택", "Choose a file"),
    "upload.once": Text("같은 번호에는 한 번만 보내기", "Send once to each number"),
    "upload.do": Text("파일 올리고 확인", "Upload and check"),
    "upload.again": Text("다른 파일 올리기", "Upload another file"),
    "upload.sending": Text("올리는 중: {percent}%", "Uploading: {percent} %"),
    "upload.failed": Text(
        "올리지 못했습니다. 연결과 파일을 확인하고 다시 시도하세요.",
        "It could not be uploaded. Check the connection and the file, and try again.",
    ),
    "upload.too_large": Text("파일이 너무 큽니다. 나누어 올리세요.", "The file is too large. Split it."),
    "upload.old_page": Text(
        "로그인이나 상태가 바뀌었습니다. 화면을 새로 고치세요.",
        "You have signed in again, or it has changed since. Reload the page.",
    ),
    "upload.checking": Text("파일을 확인하고 있습니다", "The file is being checked"),
    "upload.checked_rows": Text(
        "{rows:,}행 확인 · 보낼 수 있음 {good:,} · 보낼 수 없음 {bad:,}",
        "{rows:,} rows checked · {good:,} can be sent to · {bad:,} cannot",
    ),
    "upload.stale": Text(
        "파일 확인이 중단되었습니다. 파일을 다시 올리세요.",
        "The check of the file was cut short. Upload the file again.",
    ),
    "upload.refused": Text("이 파일은 사용할 수 없습니다.", "This file cannot be used."),
    "upload.result": Text("확인 결과", "What was found"),
    "upload.file_name": Text("파일", "File"),
    "upload.good": Text("보낼 수 있음", "Can be sent to"),
    "upload.bad": Text("보낼 수 없음", "Cannot be sent to"),
    "upload.duplicates": Text("중복된 번호", "Repeated numbers"),
    "upload.duplicates.out": Text("{count:,}건 (한 번만 보냅니다)", "{count:,} (sent to once)"),
    "upload.duplicates.in": Text("{count:,}건 (모두 보냅니다)", "{count:,} (sent to each time)"),
    "upload.unused": Text("무시한 열", "Columns ignored"),
    "upload.people": Text("{count:,}명", "{count:,}"),
    "upload.bad.title": Text("보낼 수 없는 행", "Rows that cannot be sent to"),
    "upload.bad.file": Text("보낼 수 없는 행 내려받기 (CSV)", "Download these rows (CSV)"),
    "upload.bad.more": Text(
        "처음 {shown}행만 표시합니다. 전체는 파일에서 확인하세요.", "The first {shown} are shown; the file has all."
    ),
    "upload.row": Text("행", "Row"),
    "upload.cells": Text("파일의 값", "As in the file"),
    "upload.reason": Text("사유", "Reason"),
    "upload.nobody": Text(
        "보낼 수 있는 행이 없습니다. 파일을 고쳐 다시 올리세요.",
        "There is nobody to send to. Correct the file and upload it again.",
    ),
    "upload.last": Text("보내기", "Send"),
    "upload.name": Text("캠페인 이름", "Name of the campaign"),
    "upload.later": Text("예약 발송", "Schedule it"),
    "upload.when": Text("예약 시각 ({zone})", "Date and time ({zone})"),
    "upload.do_send": Text("{count:,}명에게 보내기", "Send to {count:,}"),
    "upload.discard": Text("버리기", "Discard"),
    "upload.discard.ask": Text(
        "올린 파일과 내용을 버릴까요? 되돌릴 수 없습니다.",
        "Discard the file and the message? This cannot be undone.",
    ),
    "upload.discard.yes": Text("예, 버립니다", "Yes, discard"),
}
