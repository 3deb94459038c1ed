"""The texts of pages: by key, in every language."""

from collections.abc import Mapping

from pabal.domain.base.codes import Text


class TextCatalog:
    """Texts by key; two parts must not define the same key."""

    def __init__(self, *parts: Mapping[str, Text]) -> None:
        self.texts = {key: text for part in parts for key, text in part.items()}
        assert len(self.texts) == sum(len(part) for part in parts), "two parts define the same key"

    def __contains__(self, key: str) -> bool:
        return key in self.texts

    def translate(self, language: str, key: str, **values: object) -> str:
        """Return the text of a key in a language, with its values filled in; pages escape all of it."""
        return self.texts[key].in_language(language).format(**values)
