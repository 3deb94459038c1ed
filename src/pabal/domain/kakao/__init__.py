"""Sender profiles and templates of KakaoTalk."""
