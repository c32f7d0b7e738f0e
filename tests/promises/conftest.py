"""The promises are tested on the same deployment as the API."""

from tests.api.conftest import anonymous, assembled, caller, caller_with, client, profile, secret

__all__ = ["anonymous", "assembled", "caller", "caller_with", "client", "profile", "secret"]
