"""The endpoints of NHN Cloud: SMS, and KakaoTalk Bizmessage."""
