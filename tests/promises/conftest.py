"""The promises are tested on the same deployment as the API."""

from tests.api.conftest import anonymous, caller, caller_with, client, profile, secret

__all__ = ["anonymous", "caller", "caller_with", "client", "profile", "secret"]
