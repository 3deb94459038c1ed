"""Words of the send page."""

from pabal.domain.base.codes import Text

TEXTS = {
    "menu.send": Text("메시지 발송", "Send"),
    "send.title": Text("메시지 발송", "Send a message"),
    "send_kind.sms": Text("단문(SMS)", "SMS"),
    "send_kind.lms": Text("장문(LMS)", "LMS"),
    "send_kind.mms": Text("멀티미디어(MMS)", "MMS"),
    "send_kind.alimtalk": Text("알림톡", "Alimtalk"),
    "send_kind.friendtalk": Text("친구톡", "Friend talk"),
    "send_kind.brand": Text("브랜드 메시지", "Brand message"),
    "send.refused": Text(
        "아직 발송할 수 없습니다. 아래에 표시된 항목을 고치세요.",
        "The message cannot be sent yet. Correct the fields marked below.",
    ),
    "draft.loaded": Text("{time}에 작성하던 내용을 불러왔습니다.", "This is what you were writing at {time}."),
    "draft.discard": Text("지우고 새로 작성", "Discard it and start anew"),
    "draft.kept": Text("{time}에 임시 저장했습니다.", "Draft kept at {time}."),
    "draft.too_large": Text(
        "내용이 너무 커서 임시 저장하지 못합니다. 수신자가 많으면 파일로 올리세요.",
        "This is too large to be kept as a draft. For many receivers, upload a file.",
    ),
    "send.editing": Text(
        "예약한 발송을 바꾸고 있습니다. 보내면 원래 예약은 취소되고 이 내용으로 예약됩니다.",
        "You are changing a scheduled send. When you send this, the scheduled one is cancelled.",
    ),
    "send.editing.last": Text(
        "원래 예약을 취소하고 이 내용으로 바꿉니다. 이미 발송이 시작되었으면 아무것도 바꾸지 않습니다.",
        "The scheduled send is cancelled and replaced by this one. If it has begun already, nothing is changed.",
    ),
    "send_start.copy": Text("보낸 내용을 복사했습니다.", "This is a copy of what was sent."),
    "send_start.copy_campaign": Text(
        "캠페인의 내용을 복사했습니다. 수신자는 다시 정하세요.",
        "This is a copy of the campaign's message. Choose its receivers.",
    ),
    "send_start.resend": Text(
        "전달되지 않은 수신자만 가져왔습니다. 다른 종류로 보내려면 위에서 종류를 바꾸세요.",
        "These are the receivers that were not reached. To send another kind of message, change it above.",
    ),
    "send_start.rest": Text(
        "발송하지 못한 행을 가져왔습니다. 고친 다음 발송하세요.",
        "These are the rows that could not be sent. Correct them, then send.",
    ),
    "send_start.no_rest": Text(
        "발송하지 못한 행이 남아 있지 않습니다.", "No rows are left that could not be sent."
    ),
    "send_start.much_rest": Text(
        "발송하지 못한 행이 1,000행을 넘어 가져오지 않았습니다. 발송 현황에서 내려받아 고친 다음 파일로 올리세요.",
        "More than 1,000 rows could not be sent, so they were not copied. Download them from the campaign, correct "
        "them and upload the file.",
    ),
    "send_start.edit": Text(
        "예약한 내용을 불러왔습니다. 보내면 원래 예약은 취소되고 이 내용으로 예약됩니다.",
        "This is what was scheduled. When you send it, it takes the place of the old one.",
    ),
    "send_start.edit_campaign": Text(
        "작성한 내용을 불러왔습니다. 수신자는 그대로이며, 아래에서 다른 수신자를 정하면 바뀝니다.",
        "This is what you wrote. The receivers stay, unless you choose others below.",
    ),
    "send_start.edit_scheduled": Text(
        "예약한 내용을 불러왔습니다. 수신자는 그대로이며, 아래에서 다른 수신자를 정하면 바뀝니다. 다시 확인하고 "
        "보낼 때까지 원래 예약은 그대로입니다.",
        "This is what was scheduled. The receivers stay, unless you choose others below. The schedule stays until "
        "you have reviewed and sent the new one.",
    ),
    "send_start.none_failed": Text(
        "전달되지 않은 수신자가 없습니다.", "There are no receivers that were not reached."
    ),
    "send_start.many_failed": Text(
        "전달되지 않은 수신자가 1,000명을 넘습니다. 내용을 확인하고 ‘발송 전 확인’을 누르면 모두 가져옵니다.",
        "More than 1,000 receivers were not reached. Check the text, then review it: all of them are taken.",
    ),
    "send.resend.name": Text("재발송", "Resend"),
    "send_start.too_many": Text(
        "수신자가 1,000명을 넘어 가져오지 않았습니다. 발송 내역에서 내려받아 파일로 올리세요.",
        "It has more than 1,000 receivers, which were not copied. Download them from the history, and upload them.",
    ),
    "menu.texts": Text("문자 보관함", "Saved texts"),
    "texts.about": Text(
        "자주 보내는 메시지를 이름을 붙여 보관합니다. 변수도 그대로 보관됩니다.",
        "Messages that are sent often, kept under a name, with their variables.",
    ),
    "texts.saved": Text("보관한 문자", "Saved"),
    "texts.recent": Text("최근 발송", "Recently sent"),
    "texts.none": Text(
        "보관한 문자가 없습니다. 메시지 발송 화면에서 보관하세요.", "No texts are saved. Save one on the send page."
    ),
    "texts.open": Text("불러오기", "Open a saved text"),
    "texts.name": Text(
        "보관할 이름 (같은 이름이 있으면 바뀝니다)", "Name to save it under (replaces one of the same name)"
    ),
    "texts.save": Text("보관함에 저장", "Save this text"),
    "texts.done": Text("보관함에 저장했습니다.", "The text was saved."),
    "texts.use": Text("이 내용으로 작성", "Write with this"),
    "texts.changed": Text("저장 시각", "Saved"),
    "texts.sent": Text("발송 시각", "Sent"),
    "texts.deleted": Text("‘{name}’ 문자를 삭제했습니다.", "“{name}” was deleted."),
    "texts.delete.ask": Text("보관한 문자를 삭제하시겠습니까?", "Delete this saved text?"),
    "send.what": Text("무엇을", "What"),
    "send.whom": Text("누구에게", "To whom"),
    "send.whom.typed": Text("직접 입력", "Type"),
    "send.whom.typed.about": Text("번호나 표를 붙여 넣기", "Numbers, or a pasted table"),
    "send.whom.file": Text("파일", "File"),
    "send.whom.file.about": Text("엑셀·CSV", "Excel or CSV"),
    "send.whom.group": Text("주소록 그룹", "Address book"),
    "send.whom.group.about": Text("{count}명", "Contacts: {count}"),
    "send.whom.group.none": Text("그룹 없음", "No groups yet"),
    "send.groups.none": Text("주소록에 그룹이 없습니다.", "The address book has no groups."),
    "send.groups.first": Text("그룹 만들기", "Create a group"),
    "send.when.title": Text("언제", "When"),
    "send.when.now": Text("지금", "Now"),
    "send.when.now.about": Text("확인하면 바로 발송", "As soon as it is confirmed"),
    "send.when.later": Text("예약", "Schedule"),
    "send.when.later.about": Text("날짜와 시각 선택", "Choose day and time"),
    "send.when.tomorrow": Text("내일 아침", "Tomorrow morning"),
    "send.sender.none": Text(
        "등록된 발신번호가 없습니다. 발신번호는 계정 관리자나 운영자가 등록합니다.",
        "No sender numbers are registered. An owner or operator can register one.",
    ),
    "send.sender.unknown": Text("발신자", "Sender"),
    "send.ad": Text("광고 메시지", "This is an advertisement"),
    "send_ad.text": Text(
        "법에 따라 맨 앞에 (광고)가, 마지막 줄에 무료 수신거부 번호가 자동으로 붙고 야간에는 발송되지 않습니다.",
        "“(광고)” and a last line with the free opt-out number are added automatically, as the law requires, and "
        "the message is not sent at night.",
    ),
    "send.ad_sender": Text("보내는 사람 이름·상호(광고)", "Name of the sender (advertisements)"),
    "send_ad.typed": Text(
        "(광고)로 시작하므로 광고로 발송합니다. 보내는 사람 이름과 무료 수신거부 번호가 필요합니다.",
        "It begins with “(광고)”, so it is sent as an advertisement. It needs the sender's name and a free opt-out "
        "number.",
    ),
    "send.opt_out": Text("무료 수신거부 번호(광고)", "Free opt-out number (advertisements)"),
    "send_ad.talk": Text(
        "법에 따라 맨 앞에 (광고)가 자동으로 붙고 야간에는 발송되지 않습니다.",
        "“(광고)” is added automatically, as the law requires, and the message is not sent at night.",
    ),
    "send_ad.brand": Text(
        "브랜드 메시지는 항상 광고입니다. 광고 표시는 중계사가 붙이고 야간에는 발송되지 않습니다.",
        "A brand message is always advertising. The relay marks it as such, and it is not sent at night.",
    ),
    "send.brand.type": Text("브랜드 메시지 종류", "Brand message type"),
    "send.brand.targeting": Text("받는 사람(타겟팅)", "Targeting"),
    "send.brand.targeting.about": Text(
        "M과 N은 채널이 조건을 갖추고 중계사에 신청해야 보낼 수 있습니다.",
        "M and N need a channel that meets the conditions, and an application at the relay.",
    ),
    "send.brand.coupon.example": Text("예: 1000원 할인 쿠폰", "one of the five Korean names"),
    "attach.no_variables": Text("{label}에는 변수를 쓸 수 없습니다.", "{label} cannot have variables."),
    "attach.one_discount": Text(
        "할인율과 할인 금액 중 하나만 입력하세요.", "Enter either the discount in percent or that in KRW."
    ),
    "attach.group.header": Text("헤더", "Header"),
    "attach.group.video": Text("동영상", "Video"),
    "attach.group.commerce": Text("상품", "Product"),
    "attach.group.item": Text("아이템", "Item"),
    "attach.group.head": Text("소개 카드", "Introduction card"),
    "attach.group.card": Text("카드", "Card"),
    "attach.group.tail": Text("더 보기 링크", "Link for more"),
    "attach.group.coupon": Text("쿠폰", "Coupon"),
    "attach.header": Text("헤더 문구", "Text of the header"),
    "attach.additionalContent": Text("부가 정보", "Additional text"),
    "attach.video.videoUrl": Text("동영상 주소", "Address of the video"),
    "attach.video.thumbnailUrl": Text("미리 보기 이미지 주소", "Address of its thumbnail"),
    "attach.commerce.title": Text("상품 이름", "Name of the product"),
    "attach.commerce.regularPrice": Text("정상 가격(원)", "Regular price (KRW)"),
    "attach.commerce.discountPrice": Text("할인 가격(원)", "Discounted price (KRW)"),
    "attach.commerce.discountRate": Text("할인율(%)", "Discount (%)"),
    "attach.commerce.discountFixed": Text("할인 금액(원)", "Discount (KRW)"),
    "attach.coupon.title": Text("쿠폰 이름", "Name of the coupon"),
    "attach.coupon.description": Text("쿠폰 설명", "Description of the coupon"),
    "attach.coupon.linkMo": Text("쿠폰 링크", "Link of the coupon"),
    "attach.list.title": Text("아이템 제목", "Title of the item"),
    "attach.list.header": Text("카드 제목", "Title of the card"),
    "attach.list.message": Text("카드 내용", "Text of the card"),
    "attach.list.additionalContent": Text("부가 정보", "Additional text"),
    "attach.list.imageUrl": Text("이미지 주소", "Address of the image"),
    "attach.list.imageLink": Text("이미지를 누르면 열리는 주소", "Image link"),
    "attach.list.linkMo": Text("모바일 링크", "Mobile link"),
    "attach.buttons.name": Text("버튼 이름", "Name of the button"),
    "attach.buttons.linkMo": Text("버튼의 모바일 링크", "Mobile link of the button"),
    "attach.head.header": Text("소개 제목", "Title of the introduction"),
    "attach.head.content": Text("소개 글", "Introduction"),
    "attach.head.imageUrl": Text("소개 이미지 주소", "Address of its image"),
    "attach.head.linkMo": Text("소개 링크", "Link of the introduction"),
    "attach.tail.linkMo": Text("더 보기의 모바일 링크", "Mobile link for more"),
    "brand.coupon": Text("쿠폰", "Coupon"),
    "brand.video": Text("동영상", "Video"),
    "size.bytes": Text("{size} / {most}바이트", "{size} of {most} bytes"),
    "size.characters": Text("{size} / {most}자", "{size} of {most} characters"),
    "send.over": Text("너무 깁니다. 내용을 줄이세요.", "Too long. Shorten the text."),
    "send.lost": Text(
        "발송할 수 없는 글자입니다. 지우거나 바꾸세요:", "These characters cannot be sent. Remove or replace them:"
    ),
    "send.replaced": Text(
        "발송할 수 없어 ?로 바뀌는 글자:", "These characters cannot be sent and are replaced by question marks:"
    ),
    "send.variables": Text("변수: {names}", "Variables: {names}"),
    "send.unfilled": Text(
        "수신자를 입력하면 첫 수신자의 값으로 길이를 계산하고 미리 보여 줍니다.",
        "Add receivers to count and preview the text with the values of the first one.",
    ),
    "send.to_lms": Text("장문(LMS)으로 바꾸기", "Change to LMS"),
    "send.profile": Text("발신 프로필", "Sender profile"),
    "send.profile.none": Text(
        "사용할 수 있는 발신 프로필이 없습니다. 먼저 등록하고 인증하세요.",
        "There is no usable sender profile. Register and verify one first.",
    ),
    "send.template.choose": Text("템플릿을 선택하세요", "Choose a template"),
    "send.template.none": Text(
        "승인된 템플릿이 없습니다. 템플릿을 등록하고 검수를 요청하세요.",
        "There is no approved template. Create one and request its review.",
    ),
    "send.talk": Text("친구톡 종류", "Friend talk type"),
    "send.chosen": Text("선택 적용", "Apply"),
    "send.image": Text("이미지", "Image"),
    "send.image.drop": Text("이미지를 끌어다 놓거나 눌러서 고르세요", "Drop an image here, or press to choose one"),
    "send.image.about": Text(
        "JPEG 형식으로 {most}바이트까지 보낼 수 있습니다. 다른 형식이나 큰 사진은 자동으로 줄여서 바꿉니다.",
        "JPEG, at most {most} bytes. Other formats and larger pictures are converted and made smaller.",
    ),
    "send.image.fitted": Text(
        "사진을 {width}×{height}픽셀, {bytes}바이트 JPEG로 바꿨습니다.",
        "The picture was converted to a JPEG of {width} × {height} pixels, {bytes} bytes.",
    ),
    "send.image.count": Text("{most}개까지 첨부할 수 있습니다.", "Up to {most} images can be attached."),
    "send.image.many": Text(
        "이미지는 {most}개까지 첨부할 수 있어 고른 이미지를 첨부하지 않았습니다. 먼저 이미지를 삭제하세요.",
        "Up to {most} images can be attached, so none of the chosen ones was. Remove an image first.",
    ),
    "send.image.script": Text(
        "이미지를 첨부하려면 브라우저에서 자바스크립트를 켜세요.", "To attach an image, turn on JavaScript."
    ),
    "send.image.remove": Text("이미지 삭제", "Remove image"),
    "send.image.link": Text("이미지를 누르면 열리는 주소", "Image link"),
    "send.buttons": Text("버튼 (최대 {most}개)", "Buttons (at most {most})"),
    "send.button": Text("버튼 {number}", "Button {number}"),
    "send.button.up": Text("위로", "Move up"),
    "send.button.add": Text("버튼 추가", "Add button"),
    "send.fallback": Text("대체 발송", "Fallback"),
    "send.fallback.on": Text("받지 못하면 문자로 대체 발송", "If it is not delivered, send a text message"),
    "send.fallback.sender": Text("대체 문자의 발신번호", "Sender number of the fallback"),
    "send.fallback.content": Text(
        "대체 문자의 내용 (비우면 메시지 내용과 링크를 발송합니다)",
        "Text of the fallback (leave empty to send the text and links of the message)",
    ),
    "send.receivers": Text("수신자", "Receivers"),
    "send.receivers.none": Text(
        "수신자를 입력하거나 그룹을 고르세요. 많으면 파일로 올리세요.",
        "Type receivers or choose groups. For many, upload a file.",
    ),
    "send.missing": Text("{label} 입력하세요.", "Fill in: {label}."),
    "send.missing.senderKey": Text("발신 프로필을 고르세요.", "Choose a sender profile."),
    "send.missing.templateCode": Text("템플릿을 고르세요.", "Choose a template."),
    "send.receivers.too": Text("직접 입력", "typed"),
    "send.receivers.typed": Text("한 줄에 한 명씩 입력하세요", "One receiver per line"),
    "send.receivers.how": Text(
        "입력 순서: {columns}. 쉼표나 탭으로 구분하며, 스프레드시트에서 복사해 붙여 넣을 수 있습니다.",
        "Order: {columns}. Separate values with commas or tabs, or paste them from a spreadsheet.",
    ),
    "send.receivers.valid": Text("발송할 수 있는 수신자 {count}명", "can be sent: {count}"),
    "send.receivers.count": Text("{count}명", "{count} in total"),
    "send.receivers.repeated": Text("중복 {count}건 제외", "duplicates left out: {count}"),
    "send.receivers.twice": Text("중복 {count}건 포함", "duplicates included: {count}"),
    "send.receivers.bad": Text("발송할 수 없는 수신자 {count}명", "cannot be sent: {count}"),
    "send.receivers.more_bad": Text(
        "발송할 수 없는 수신자가 {count}명 더 있습니다.", "{count} more cannot be sent."
    ),
    "send.receivers.some": Text("처음 몇 명만 표시합니다.", "Only the first ones are shown."),
    "send.upgraded": Text(
        "SMS 길이(90바이트)를 넘어 LMS로 발송합니다.", "It is too long for SMS (90 bytes) and is sent as LMS."
    ),
    "send.cost": Text("예상 비용", "Expected cost"),
    "send.cost.won": Text("{total}원 (1건 {each}원)", "KRW {total} (KRW {each} each)"),
    "send.cost.total": Text("{total}원", "KRW {total}"),
    "send.cost.part": Text("{count}건 {total}원", "{count}: KRW {total}"),
    "send.cost.fallback": Text(
        "모두 대체 문자로 나가면 최대 {total}원", "at most KRW {total} if every fallback is sent"
    ),
    "send.left_out": Text("제외", "Left out"),
    "send.left_out.about": Text(
        "보낼 수 없는 {count}줄은 빼고 발송합니다. 그 줄은 남겨 두어 고친 다음 보낼 수 있습니다.",
        "Lines that cannot be sent: {count}. They are left out and kept: correct and send them later.",
    ),
    "send.rest": Text("보내지 않은 줄이 {count}개 있습니다.", "Lines that were not sent: {count}."),
    "send.rest.go": Text("고쳐서 보내기", "Correct and send them"),
    "send.rest.file": Text("내려받기 (CSV)", "Download (CSV)"),
    "send.again": Text("중복된 수신번호입니다", "Duplicate of a number above"),
    "send.line": Text("줄", "Line"),
    "send.number": Text("수신번호", "Receiver"),
    "send.note": Text("비고", "Note"),
    "send.when": Text("발송 시점", "When"),
    "send.now": Text("즉시 발송", "Now"),
    "send.expire": Text("발송 기한 (분)", "Lifetime in minutes"),
    "send.expire.default": Text("기본 {minutes}분", "Default: {minutes}"),
    "send.night.about": Text(
        "광고는 20:50부터 다음 날 08:00까지 발송할 수 없습니다.",
        "Advertisements cannot be sent from 20:50 to 08:00.",
    ),
    "send.night.morning": Text("{time}로 예약", "Schedule for {time}"),
    "send.sum.people": Text("{count:,}명", "{count:,} receivers"),
    "send.sum.kept": Text("기존 수신자 {count:,}명", "The same {count:,} receivers"),
    "send.sum.nobody": Text(
        "수신자를 정하면 인원과 비용을 보여 줍니다.", "Receivers and cost are shown here once you choose them."
    ),
    "send.sum.at": Text("{time} 예약", "scheduled for {time}"),
    "send.sum.cost": Text("약 {total}원", "about KRW {total}"),
    "send.chips": Text("변수 넣기", "Insert a variable"),
    "send.night.moved": Text(
        "광고를 발송할 수 없는 시간이라 08:00에 발송합니다.",
        "Advertisements cannot be sent at that time. It will be sent at 08:00.",
    ),
    "send.night.refused": Text(
        "광고를 발송할 수 없는 시간입니다. 08:00부터 20:50 사이로 예약하세요.",
        "Advertisements cannot be sent at that time. Schedule it between 08:00 and 20:50.",
    ),
    "send.test": Text("나에게 테스트 발송", "Send a test to yourself"),
    "send.test.about": Text(
        "첫 수신자의 값으로 지금 한 건을 발송합니다. 실제 발송과 똑같이 기록됩니다.",
        "One message is sent now with the values of the first receiver. It is recorded like any other message.",
    ),
    "send.test.number": Text("내 휴대폰 번호", "Your phone number"),
    "send.test.do": Text("테스트 발송", "Send test"),
    "send.test.done": Text("테스트 메시지를 발송했습니다.", "The test message was sent."),
    "send.check": Text("발송 전 확인", "Review before sending"),
    "send.last": Text("이대로 발송하시겠습니까?", "Send this message?"),
    "send.last.about": Text(
        "내용을 바꾸면 다시 확인해야 합니다. 여러 번 눌러도 한 번만 발송됩니다.",
        "If you change anything, review it again. It is sent once, however often you press the button.",
    ),
    "send.from": Text("발신번호·채널", "From"),
    "send.do": Text("{count}명에게 발송", "Send to {count}"),
    "send.instead": Text("전달되지 않으면 발송하는 대체 문자", "Fallback if it is not delivered"),
    "send.instead.none": Text("문자로 발송할 수 없음", "Cannot be sent as a text message"),
    "send.instead.no_opt_out": Text(
        "무료 수신거부 번호가 없어 문자로 발송할 수 없음",
        "Cannot be sent as a text message without an opt-out number",
    ),
    "send.done": Text("발송 요청을 접수했습니다", "Your message was accepted"),
    "send.others": Text("외 {count}명", "and {count} more"),
    "send.content.first": Text("첫 수신자가 받을 내용", "Text for the first receiver"),
    "send.follow": Text("진행 상황 보기", "View progress"),
    "send.another": Text("새 메시지 발송", "Send another message"),
}
