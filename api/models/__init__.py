"""The operational tables, one module per aggregate."""

from api.models.agreement import AgreementSignature
from api.models.app import App, AppSecret, Delegation
from api.models.attribution import Recompute
from api.models.audience import AudienceExclusion
from api.models.billing import Handoff, HookDelivery, Subscription
from api.models.branding import Branding, SenderDomain
from api.models.chat import ChatMedia, ChatTemplate
from api.models.collected import CollectedEvent
from api.models.connection import Connection
from api.models.connection_sync import ConnectionSync
from api.models.creative import CreativeAnalysis
from api.models.credential import ApiKey
from api.models.dataset import DatasetTarget, PartnerAudience
from api.models.entitlement import Entitlement
from api.models.erasure import ErasedIdentifier, Erasure
from api.models.export import ConversionCatalog, ExportDestination, ExportRow
from api.models.goal import GoalRow
from api.models.ingest import Event, Import, IngestedRecord
from api.models.leader import FinishedStudy, Leader
from api.models.oauth import DpaAcceptance, OAuthAuthorization
from api.models.oauth_grants import OAuthClient, OAuthCode, OAuthRefreshToken
from api.models.one_time import OneTimeToken
from api.models.outbox import OutgoingMail
from api.models.payment import ManualRefund, PaymentPayer
from api.models.person import Invitation, Membership, ProfileMembership, User, UserSession, UserToken
from api.models.pii import PiiAccess
from api.models.platform_change import PlatformChange
from api.models.profile import Profile
from api.models.publication import Run
from api.models.purge import Purge
from api.models.recommendation import Recommendation, RecommendationLook
from api.models.report import Report, ReportSchedule
from api.models.request import AuditEntry, IdempotencyRecord, RateUse
from api.models.seen import TabSeen
from api.models.shared_snapshot import SharedSnapshot, SharedSnapshotProfile
from api.models.store_delivery import StoreDelivery, StorePurge
from api.models.tracking import TrackerSettings, TrackingKey, TrackingVerification
from api.models.usage import CredentialUse
from api.models.utm_scan import UtmScan
from api.models.webhook import WebhookDelivery, WebhookEvent, WebhookSubscription
from api.models.workspace import Workspace
from api.models.writeback import Writeback

__all__ = [
    "AgreementSignature",
    "ApiKey",
    "App",
    "AppSecret",
    "AudienceExclusion",
    "AuditEntry",
    "Branding",
    "ChatMedia",
    "ChatTemplate",
    "CollectedEvent",
    "Connection",
    "ConnectionSync",
    "ConversionCatalog",
    "CreativeAnalysis",
    "CredentialUse",
    "DatasetTarget",
    "Delegation",
    "DpaAcceptance",
    "Entitlement",
    "ErasedIdentifier",
    "Erasure",
    "Event",
    "ExportDestination",
    "ExportRow",
    "FinishedStudy",
    "GoalRow",
    "Handoff",
    "HookDelivery",
    "IdempotencyRecord",
    "Import",
    "IngestedRecord",
    "Invitation",
    "Leader",
    "ManualRefund",
    "Membership",
    "OAuthAuthorization",
    "OAuthClient",
    "OAuthCode",
    "OAuthRefreshToken",
    "OneTimeToken",
    "OutgoingMail",
    "PartnerAudience",
    "PaymentPayer",
    "PiiAccess",
    "PlatformChange",
    "Profile",
    "ProfileMembership",
    "Purge",
    "RateUse",
    "Recommendation",
    "RecommendationLook",
    "Recompute",
    "Report",
    "ReportSchedule",
    "Run",
    "SenderDomain",
    "SharedSnapshot",
    "SharedSnapshotProfile",
    "StoreDelivery",
    "StorePurge",
    "Subscription",
    "TabSeen",
    "TrackerSettings",
    "TrackingKey",
    "TrackingVerification",
    "User",
    "UserSession",
    "UserToken",
    "UtmScan",
    "WebhookDelivery",
    "WebhookEvent",
    "WebhookSubscription",
    "Workspace",
    "Writeback",
]
