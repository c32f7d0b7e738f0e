"""The golden deployment of the campaign tests: the profile's overview must agree with its campaigns."""

from tests.api.v1.campaigns.conftest import caller, deployment, golden, unpublished

__all__ = ["caller", "deployment", "golden", "unpublished"]
