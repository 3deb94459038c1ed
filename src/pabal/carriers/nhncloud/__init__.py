"""NHN Cloud Notification as a carrier: SMS API v3.0 and KakaoTalk Bizmessage API v2.x."""
