"""The operational tables, one module per aggregate."""

from api.models.attribution import Recompute
from api.models.connection import Connection
from api.models.credential import ApiKey
from api.models.ingest import Event, Import, IngestedRecord
from api.models.profile import Profile
from api.models.publication import Run
from api.models.request import AuditEntry, IdempotencyRecord, RateUse
from api.models.workspace import Workspace

__all__ = [
    "ApiKey",
    "AuditEntry",
    "Connection",
    "Event",
    "IdempotencyRecord",
    "Import",
    "IngestedRecord",
    "Profile",
    "RateUse",
    "Recompute",
    "Run",
    "Workspace",
]
