"""Texts of opt-outs, inbound messages and the deletion of groups."""

from pabal.domain.base.codes import Text

TEXTS = {
    "contacts.group.delete.ask": Text(
        "이 그룹을 삭제하시겠습니까? 되돌릴 수 없습니다. 연락처는 주소록에 남습니다.",
        "Delete this group? This cannot be undone. Its contacts stay in the address book.",
    ),
    "contacts.group.delete_all": Text("연락처 {count}명도 함께 삭제", "Delete its {count} contacts, too"),
    "menu.opt_outs": Text("수신거부", "Opt-outs"),
    "opt_outs.about": Text(
        "여기에 있는 번호로는 광고를 보내지 않습니다. 광고가 아닌 메시지는 그대로 보냅니다.",
        "Numbers in this list get no advertising. Other messages are sent to them as before.",
    ),
    "opt_outs.sender_field": Text("발신번호(비우면 전체)", "Sender number (empty: all)"),
    "opt_outs.source": Text("등록 경로", "Added by"),
    "opt_outs.since": Text("등록 시각", "Added at"),
    "opt_outs.remove_it": Text("{number} 수신거부 삭제", "Remove the opt-out of {number}"),
    "opt_outs.remove_why": Text(
        "삭제하면 이 번호로 광고를 다시 보냅니다. 수신자가 다시 받겠다고 동의했을 때만 삭제하세요.",
        "Advertising is sent to this number again. Remove it only if the receiver has consented again.",
    ),
    "opt_outs_done.added": Text("수신거부를 추가했습니다.", "The opt-out was added."),
    "opt_outs_done.known": Text(
        "이미 등록된 수신거부입니다. 바뀐 것은 없습니다.", "This opt-out was there already. Nothing has changed."
    ),
    "opt_outs_done.removed": Text("수신거부를 삭제했습니다.", "The opt-out was removed."),
    "opt_outs.search_number": Text("번호로 찾기", "Find a number"),
    "opt_outs.export": Text("전체 목록 CSV 내려받기", "Download all as CSV"),
    "opt_outs.new": Text("번호 추가", "Add a number"),
    "opt_outs.file": Text("파일로 추가", "Add from a file"),
    "opt_outs.choose_file": Text("파일", "File"),
    "opt_outs.columns": Text(
        "CSV나 Excel, {rows}행까지. 첫 행의 열 이름: 휴대폰번호, 발신번호(선택), 사유(선택).",
        "CSV or Excel, up to {rows} rows. Columns in the first row: phone, sender (optional), reason (optional).",
    ),
    "opt_outs.imported": Text(
        "파일의 {rows}개 번호 가운데 {added}개를 새로 추가했습니다.",
        "The file has {rows} numbers; {added} of them were added.",
    ),
    "opt_outs.file_refused": Text(
        "파일을 가져오지 않았습니다. 고쳐서 다시 올리세요.",
        "Nothing was imported. Correct the file, and try again.",
    ),
    "opt_outs.total": Text("{total}개", "{total} in all"),
    "opt_outs.none": Text(
        "수신거부한 번호가 없습니다. 전화나 창구에서 받은 수신거부는 위에서 추가하세요.",
        "No number has opted out. Add above who has done so by phone or in person.",
    ),
    "opt_outs.not_found": Text(
        "이 번호는 수신거부 목록에 없습니다.", "This number is not in the list of opt-outs."
    ),
    "menu.inbound": Text("수신 메시지", "Inbound"),
    "inbound.title": Text("수신 메시지", "Inbound messages"),
    "inbound.about": Text(
        "등록된 발신번호로 온 답장입니다. 그 발신번호로 보낸 적이 있는 수신자가 수신거부, 거부, 해지, STOP, "
        "UNSUBSCRIBE라고만 답하면 그 발신번호의 수신거부로 추가됩니다.",
        "Replies to registered sender numbers. A receiver who only answers STOP or UNSUBSCRIBE (or the same in "
        "Korean) to a text from one of them is added to the opt-outs of that number.",
    ),
    "inbound.unassigned": Text(
        "어느 계정에도 등록되지 않은 번호로 온 메시지입니다. 운영자만 볼 수 있습니다. 번호를 계정에 등록하면 "
        "그 뒤에 온 메시지부터 그 계정에 표시됩니다.",
        "Messages to numbers that no account has registered. Only operators see them. Once an account has "
        "registered a number, later messages to it are shown there.",
    ),
    "inbound.time": Text("받은 시각", "Received at"),
    "inbound.sender": Text("보낸 번호", "From"),
    "inbound.receiver": Text("받은 번호", "To"),
    "inbound.content": Text("내용", "Text"),
    "inbound.opted_out": Text("수신거부 추가됨", "Opted out"),
    "inbound.export": Text("CSV 내려받기", "Download CSV"),
    "inbound.not_found": Text("이 번호에서 받은 메시지가 없습니다.", "There are no messages from this number."),
    "inbound.none": Text(
        "받은 메시지가 없습니다. 수신자가 등록된 발신번호로 답장하면 여기에 표시됩니다.",
        "There are no messages. Replies to registered sender numbers are shown here.",
    ),
    "inbound.none_unassigned": Text("미배정 메시지가 없습니다.", "There are no such messages."),
    "inbound.no_older": Text("더 오래된 메시지가 없습니다.", "There are no older messages."),
    "operate.part.inbound": Text("미배정 수신", "Inbound"),
    "audit_action.inbound.export": Text("수신 메시지 내려받기", "Downloaded the inbound messages"),
    "audit_action.opt_out.add": Text("수신거부 추가", "Added an opt-out"),
    "audit_action.opt_out.remove": Text("수신거부 삭제", "Removed an opt-out"),
    "audit_action.opt_out.import": Text("수신거부 파일 가져오기", "Imported opt-outs"),
    "audit_action.opt_out.export": Text("수신거부 목록 내려받기", "Downloaded the opt-outs"),
    "contacts.import": Text("파일로 가져오기", "Import a file"),
    "contacts.import.about": Text(
        "파일을 고르면 각 열을 어느 항목으로 가져올지 정할 수 있습니다. 열 이름이 맞으면 그대로 두세요.",
        "Once you choose a file, you can say which column is which field. If the names fit, leave them so.",
    ),
    "contacts.import.refused": Text(
        "파일을 가져오지 않았습니다. 고쳐서 다시 시도하세요.",
        "The file was not imported. Correct it, and try again.",
    ),
    "contacts.import.partly": Text(
        "파일의 일부만 가져왔습니다. 아래 결과를 확인하고, 원인을 해결한 뒤 같은 파일을 다시 가져오세요. 이미 "
        "가져온 번호는 중복되지 않습니다.",
        "Only a part of the file was imported; see the result below. Solve the problem, then import the same file "
        "again: numbers are never added twice.",
    ),
    "contacts.import.done": Text("가져온 결과", "Result of the import"),
    "contact_import.added": Text("새로 추가", "Added"),
    "contact_import.changed": Text("갱신", "Updated"),
    "contact_import.known": Text("이미 있어 그대로 둠", "Already there, unchanged"),
    "contact_import.duplicates": Text("파일 안에서 중복", "Repeated in the file"),
    "contact_import.bad": Text("가져올 수 없는 행", "Rows that cannot be imported"),
    "contacts.import.known.title": Text("이미 있는 번호는", "Numbers that are there already"),
    "contacts.import.update": Text("파일의 내용으로 갱신", "Update them from the file"),
    "contacts.import.keep": Text("주소록의 내용을 그대로 둠", "Leave them as they are"),
    "audit_action.contact.add": Text("연락처 추가", "Added a contact"),
    "audit_action.contact.update": Text("연락처 수정", "Changed a contact"),
    "audit_action.contact.delete": Text("연락처 삭제", "Deleted contacts"),
    "audit_action.contact.import": Text("주소록 파일 가져오기", "Imported contacts"),
    "audit_action.contact.export": Text("주소록 내려받기", "Downloaded the address book"),
    "audit_action.contact.fields": Text("주소록 항목 변경", "Changed the fields of contacts"),
    "audit_action.contact.group_add": Text("주소록 그룹 생성", "Created a group of contacts"),
    "audit_action.contact.group_rename": Text("주소록 그룹 이름 변경", "Renamed a group of contacts"),
    "audit_action.contact.group_delete": Text("주소록 그룹 삭제", "Deleted a group of contacts"),
}
