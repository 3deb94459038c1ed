"""NHN Cloud's endpoints of KakaoTalk Bizmessage: Alimtalk, friend talk and brand messages."""
