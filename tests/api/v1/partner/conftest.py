"""People and apps that ask with a header of their own."""

from tests.api.v1.profiles.conftest import ask

__all__ = ["ask"]
