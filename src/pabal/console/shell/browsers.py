"""Names the kind of a browser and its system, for users to recognize their sessions."""

_BROWSERS = (
    ("Whale/", "Whale"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("KAKAOTALK", "KakaoTalk"),
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
"""What a browser says, and its name; the first that fits, since each also claims to be those below."""
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


def describe_browser(user_agent: str) -> str:
    """Return kind and system of a browser, such as `Chrome, Windows`; empty if neither is known."""
    found = (next((name for mark, name in known if mark in user_agent), None) for known in (_BROWSERS, _SYSTEMS))
    return ", ".join(each for each in found if each)
