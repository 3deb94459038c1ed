"""Words of sender profiles."""

from pabal.domain.codes import Text

TEXTS = {
    "menu.profiles": Text("발신 프로필", "Profiles"),
    "profiles.title": Text("발신 프로필", "Sender profiles"),
    "profiles.about": Text(
        "알림톡과 친구톡은 카카오톡 채널 이름으로 발송됩니다. 채널을 등록하고 인증하면 보낼 수 있습니다.",
        "Alimtalk and friend talk go out under a channel, once it is registered and verified by its administrator.",
    ),
    "profiles.new": Text("채널 등록", "Register a channel"),
    "profiles.list": Text("등록한 채널", "Registered channels"),
    "profiles.none": Text("아직 등록한 채널이 없습니다.", "No channel is registered yet."),
    "profiles.channel": Text("채널", "Channel"),
    "profiles.category": Text("카테고리", "Category"),
    "profiles.phone": Text("관리자 휴대폰", "Admin phone"),
    "profiles.status": Text("상태", "Status"),
    "profiles.sender_key": Text("발신 프로필 키", "Sender key"),
    "profiles.made": Text("등록 시각", "Registered"),
    "profiles.actions": Text("작업", "Actions"),
    "profiles.disabled": Text("운영자가 사용을 중지했습니다.", "Put out of use by an operator."),
    "profiles.enter": Text("토큰 입력", "Enter the token"),
    "profiles.delete": Text("삭제", "Delete"),
    "profiles.of": Text("{what}: {channel}", "{what}: {channel}"),
    "profiles.approved": Text(
        "{channel} 채널이 승인되었습니다. 이제 템플릿을 만들고 메시지를 보낼 수 있습니다.",
        "{channel} is approved. Templates can be created and messages sent under it now.",
    ),
    "profiles.pages": Text("페이지 이동", "Pages"),
    "profile_new.title": Text("채널 등록", "Register a channel"),
    "profile_new.steps": Text(
        "아래 세 가지를 입력하면 채널 관리자의 휴대폰으로 인증 토큰을 보냅니다. 다음 화면에서 토큰을 입력하세요.",
        "Fill in three things. The administrator's phone then gets a token, which you enter on the next page.",
    ),
    "profile_new.channel": Text("1. 채널", "1. The channel"),
    "profile_new.channel_id": Text("채널 검색용 아이디", "Search id of the channel"),
    "profile_new.channel_help": Text(
        "카카오톡 채널 관리자센터의 프로필 설정에 있는, @로 시작하는 아이디입니다.",
        "It begins with @ and stands in the channel's profile settings.",
    ),
    "profile_new.category": Text("2. 카테고리", "2. Its category"),
    "profile_new.major": Text("대분류", "Major"),
    "profile_new.minor": Text("중분류", "Middle"),
    "profile_new.leaf": Text("소분류", "Minor"),
    "profile_new.choose": Text("선택하세요", "Choose"),
    "profile_new.phone": Text("3. 채널 관리자", "3. Its administrator"),
    "profile_new.cellphone": Text("관리자의 휴대폰 번호", "The administrator's mobile number"),
    "profile_new.phone_help": Text(
        "카카오톡 채널 관리자로 등록된 휴대폰이어야 합니다. 이 번호로 토큰을 보냅니다.",
        "It must be registered as an administrator of the channel. The token goes there.",
    ),
    "profile_new.send": Text("토큰 보내기", "Send the token"),
    "profile_new.cancel": Text("취소", "Cancel"),
    "profile_token.title": Text("토큰 입력", "Enter the token"),
    "profile_token.sent": Text(
        "{channel} 채널 관리자의 휴대폰 {number}(으)로 여섯 자리 토큰을 보냈습니다.",
        "A token of six digits was sent to {number}, the phone of the administrator of {channel}.",
    ),
    "profile_token.again": Text(
        "토큰을 다시 보냈습니다. 이전 토큰은 쓸 수 없습니다.",
        "Another token was sent. Earlier ones no longer work.",
    ),
    "profile_token.token": Text("인증 토큰", "Token"),
    "profile_token.left": Text("남은 시간", "Time left"),
    "profile_token.over": Text("시간이 지났습니다. 토큰을 다시 받으세요.", "Time is up. Have another token sent."),
    "profile_token.soon": Text("1분 남았습니다.", "One minute is left."),
    "profile_token.tries": Text("앞으로 {tries}번 더 입력할 수 있습니다.", "{tries} tries are left."),
    "profile_token.locked": Text(
        "토큰을 여러 번 틀려 더 입력할 수 없습니다. 토큰을 다시 받으세요.",
        "Too many wrong tokens were entered. Have another one sent.",
    ),
    "profile_token.confirm": Text("확인", "Confirm"),
    "profile_token.resend": Text("토큰 다시 받기", "Send another token"),
    "profile_token.phone": Text("가상 휴대폰에서 토큰 보기", "See the token on the simulated phone"),
    "profile_token.back": Text("발신 프로필로", "Back to the sender profiles"),
    "profile_delete.title": Text("발신 프로필 삭제", "Delete a sender profile"),
    "profile_delete.ask": Text("{channel} 채널을 정말 삭제할까요?", "Really delete {channel}?"),
    "profile_delete.what": Text(
        "이 채널로 예약된 메시지가 모두 취소되고, 이 채널의 템플릿을 더 쓸 수 없습니다. 발송 내역은 "
        "남습니다. 다시 쓰려면 새로 등록하고 인증해야 합니다.",
        "All of its messages that still wait are cancelled, and its templates can be used no more. The "
        "history stays. To use it again, it must be registered and verified again.",
    ),
    "profile_delete.do": Text("삭제", "Delete it"),
    "profile_delete.keep": Text("취소", "Keep it"),
}
