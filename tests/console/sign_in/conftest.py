"""The OpenID Connect provider of these tests."""

from tests.fixtures.openid import provider

__all__ = ["provider"]
