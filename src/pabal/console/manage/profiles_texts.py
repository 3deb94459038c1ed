"""Texts of sender profiles."""

from pabal.domain.base.codes import Text

TEXTS = {
    "menu.profiles": Text("발신 프로필", "Sender profiles"),
    "profiles.title": Text("발신 프로필", "Sender profiles"),
    "profiles.about": Text(
        "알림톡과 친구톡은 카카오톡 채널 이름으로 발송됩니다. 채널을 등록하고 인증하면 발송할 수 있습니다.",
        "Alimtalk and friend talk messages are sent from a KakaoTalk channel. Register the channel and "
        "verify it first.",
    ),
    "profiles.new": Text("채널 등록", "Register a channel"),
    "profiles.list": Text("등록한 채널", "Registered channels"),
    "profiles.none": Text("아직 등록한 채널이 없습니다.", "No channels are registered yet."),
    "profiles.channel": Text("채널", "Channel"),
    "profiles.category": Text("카테고리", "Category"),
    "profiles.phone": Text("채널 관리자 휴대폰", "Channel administrator's phone"),
    "profiles.status": Text("상태", "Status"),
    "profiles.sender_key": Text("발신 프로필 키", "Sender key"),
    "profiles.made": Text("등록 시각", "Registered"),
    "profiles.actions": Text("작업", "Actions"),
    "profiles.disabled": Text("운영자가 사용을 중지했습니다.", "Disabled by an operator."),
    "profiles.enter": Text("토큰 입력", "Enter token"),
    "profiles.delete": Text("삭제", "Delete"),
    "profiles.of": Text("{what}: {channel}", "{what}: {channel}"),
    "profiles.approved": Text(
        "{channel} 채널이 승인되었습니다. 이제 템플릿을 등록하고 메시지를 발송할 수 있습니다.",
        "{channel} is approved. You can now create templates and send messages from it.",
    ),
    "profiles.pages": Text("페이지 이동", "Pages"),
    "profile_new.title": Text("채널 등록", "Register a channel"),
    "profile_new.steps": Text(
        "아래 세 가지를 입력하면 채널 관리자의 휴대폰으로 인증 토큰을 발송합니다. 다음 화면에서 토큰을 입력하세요.",
        "Fill in the three fields below. A token is sent to the channel administrator's phone. Enter it on "
        "the next page.",
    ),
    "profile_new.channel": Text("1. 채널", "1. Channel"),
    "profile_new.channel_id": Text("채널 검색용 아이디", "Channel search ID"),
    "profile_new.channel_help": Text(
        "카카오톡 채널 관리자센터의 프로필 설정에 있는, @로 시작하는 아이디입니다.",
        "It starts with @ and is listed in the channel's profile settings.",
    ),
    "profile_new.category": Text("2. 카테고리", "2. Category"),
    "profile_new.major": Text("대분류", "Major"),
    "profile_new.minor": Text("중분류", "Middle"),
    "profile_new.leaf": Text("소분류", "Minor"),
    "profile_new.choose": Text("선택하세요", "Choose"),
    "profile_new.phone": Text("3. 채널 관리자", "3. Channel administrator"),
    "profile_new.cellphone": Text("채널 관리자의 휴대폰 번호", "Mobile number of the channel administrator"),
    "profile_new.phone_help": Text(
        "카카오톡 채널 관리자로 등록된 휴대폰이어야 합니다. 이 번호로 인증 토큰을 발송합니다.",
        "The phone must be registered as an administrator of the channel. The token is sent to it.",
    ),
    "profile_new.send": Text("인증 토큰 발송", "Send token"),
    "profile_new.cancel": Text("취소", "Cancel"),
    "profile_token.title": Text("인증 토큰 입력", "Enter token"),
    "profile_token.sent": Text(
        "{channel} 채널 관리자의 휴대폰 {number}(으)로 여섯 자리 인증 토큰을 발송했습니다.",
        "A six-digit token was sent to {number}, the phone of the administrator of {channel}.",
    ),
    "profile_token.again": Text(
        "인증 토큰을 다시 발송했습니다. 이전 토큰은 쓸 수 없습니다.",
        "A new token was sent. Earlier tokens no longer work.",
    ),
    "profile_token.token": Text("인증 토큰", "Token"),
    "profile_token.left": Text("남은 시간", "Time left"),
    "profile_token.over": Text(
        "유효 시간이 지났습니다. 토큰을 다시 받으세요.", "The token has expired. Request a new one."
    ),
    "profile_token.soon": Text("1분 남았습니다.", "One minute left."),
    "profile_token.tries": Text("앞으로 {tries}번 더 입력할 수 있습니다.", "Attempts left: {tries}."),
    "profile_token.locked": Text(
        "토큰을 여러 번 잘못 입력해 더 입력할 수 없습니다. 토큰을 다시 받으세요.",
        "Too many wrong tokens. Request a new one.",
    ),
    "profile_token.confirm": Text("확인", "Confirm"),
    "profile_token.resend": Text("토큰 다시 받기", "Send a new token"),
    "profile_token.phone": Text("가상 휴대폰에서 토큰 보기", "View the token on the simulated phone"),
    "profile_token.back": Text("발신 프로필 목록으로", "Back to sender profiles"),
    "profile_delete.title": Text("발신 프로필 삭제", "Delete sender profile"),
    "profile_delete.ask": Text("{channel} 채널을 삭제하시겠습니까?", "Delete {channel}?"),
    "profile_delete.what": Text(
        "이 채널로 예약된 메시지가 모두 취소되고, 이 채널의 템플릿을 더 쓸 수 없습니다. 발송 내역은 "
        "남습니다. 다시 쓰려면 새로 등록하고 인증해야 합니다.",
        "All waiting messages of this channel are cancelled, and its templates can no longer be used. The "
        "history stays. To use the channel again, register and verify it again.",
    ),
    "profile_delete.do": Text("삭제", "Delete"),
    "profile_delete.keep": Text("취소", "Cancel"),
}
