"""The error catalogue: one constant per code, in the order of `docs/errors.md`. `raise errors.NOT_FOUND()`.

Every error leaves as `{"error": {code, message, status, request_id, docs_url, ...}}`; `api/http.py` does the writing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from api.audit import Attempt
    from api.db import Base


class ApiError(Exception):
    """A refusal on its way to the caller. `fields` are the extra members the code is documented to carry."""

    def __init__(
        self,
        code: Code,
        message: str,
        reason: str | None = None,
        headers: Mapping[str, str] | None = None,
        fields: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(f"{code.code}: {message}")
        self.code = code
        self.message = message
        self.reason = reason
        self.headers = dict(headers or {})
        self.fields = dict(fields or {})
        self.attempt: Attempt | None = None
        self.row: Base | None = None

    def audited(self, attempt: Attempt) -> ApiError:
        """The same refusal, to be recorded in the audit trail once the request's own work is rolled back."""
        self.attempt = attempt
        return self

    def leaving(self, row: Base) -> ApiError:
        """The same refusal, whose row is kept once the request's own work is rolled back."""
        self.row = row
        return self


@dataclass(frozen=True, slots=True)
class Code:
    """One code of the catalogue.

    `message` is the default text for people, `when` the sentence of the errors page, `reasons` the stable refinements,
    `extra` the additional members of the envelope. `reserved` says why a code is listed but never raised here.
    """

    code: str
    status: int
    message: str
    when: str
    reasons: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    reserved: str | None = None

    def __call__(
        self,
        message: str | None = None,
        *,
        reason: str | None = None,
        headers: Mapping[str, str] | None = None,
        **fields: Any,
    ) -> ApiError:
        """The exception to raise. A reason or extra member that the catalogue does not list is a ValueError."""
        if reason is not None and reason not in self.reasons:
            raise ValueError(f"{reason} is not a reason of {self.code}")
        if unknown := set(fields) - set(self.extra):
            raise ValueError(f"{self.code} carries no {sorted(unknown)}")
        return ApiError(self, message or self.message, reason, headers, fields)


MAIL = "Sending through a person's connected mailbox is not served; reports leave through the deployment's own mail."
PAYERS = "An assignment is stored together with the request for the build that takes it over, or not at all."
CALENDARS = "Calendars are not served."
REGISTRATION = "Registration of chat-app numbers is not served."
MESSAGES = "Sending messages is not served."
INSIGHTS = "Template analytics are not served."

UNAUTHORIZED = Code(
    "unauthorized",
    401,
    "No valid credential was sent.",
    "The credential is missing, malformed, unknown, expired or revoked. All of these get the same answer.",
    reasons=("invalid_credentials",),
)
FORBIDDEN = Code(
    "forbidden",
    403,
    "This credential may not do that.",
    "The credential is valid, but its kind, the person's role or the state of things does not allow the action.",
    reasons=(
        "api_key_not_allowed",
        "app_credential_required",
        "app_credential_not_allowed",
        "session_required",
        "ip_not_allowed",
        "role_required",
        "owner_required",
        "permission_missing",
        "role_above_own",
        "email_mismatch",
        "app_suspended",
        "not_provisioned_by_app",
        "partner_audiences_not_enabled",
        "privacy_downgrade_requires_session",
        "writeback_disabled",
        "platform_permission_denied",
        "applied_by_not_allowed",
        "host_not_allowed",
        "automated_visitor",
    ),
)
INSUFFICIENT_SCOPE = Code(
    "insufficient_scope",
    403,
    "This credential lacks a required scope.",
    "The credential, or the membership behind a user token, lacks the scope the route needs.",
    extra=("required_scopes",),
)
NOT_FOUND = Code(
    "not_found",
    404,
    "There is nothing here that this credential can read.",
    "The route is unknown, or the object does not exist, or it lies outside what the credential reaches.",
)
INVALID_PARAMETER = Code(
    "invalid_parameter",
    400,
    "A query parameter or path segment is not valid.",
    "A query parameter or path segment is unknown, sent twice, of the wrong type or out of range.",
)
INVALID_REQUEST = Code(
    "invalid_request",
    400,
    "The request could not be read.",
    "The body is not the JSON the route takes, a needed id is absent, the path has no such method (status 405), or "
    "what came is no request of HTTP or longer than one may be (status 400, 414, 417 or 431).",
    reasons=(
        "malformed_json",
        "wrong_content_type",
        "content_encoding",
        "too_deep",
        "profile_id_required",
        "workspace_id_required",
        "idempotency_key_malformed",
        "method_not_allowed",
    ),
)
VALIDATION_ERROR = Code(
    "validation_error",
    422,
    "A field of the body is not valid.",
    "The body was read, but a field is missing, unknown, of the wrong type or outside limits; the message names it.",
)
INVALID_CONTENT = Code(
    "invalid_content",
    400,
    "The uploaded content is not valid.",
    "An uploaded part is empty, absent, wrongly named or of the wrong kind.",
)
INVALID_DATE_RANGE = Code(
    "invalid_date_range",
    400,
    "date_from and date_to must both be YYYY-MM-DD, in order, at most 366 days apart.",
    "One of the two dates is absent, not YYYY-MM-DD or not a real day, they are out of order, or too far apart.",
)
ENTITLEMENT_REQUIRED = Code(
    "entitlement_required",
    409,
    "Attribution features are not enabled for this profile.",
    "A write to a profile whose provisioning app has not enabled attribution features. Reads are unaffected.",
)
HEALTHCARE_SCOPE_FORBIDDEN = Code(
    "healthcare_scope_forbidden",
    403,
    "This scope is withheld on healthcare profiles.",
    "A partner grant never reaches customers:read or visitors:read of a healthcare profile; "
    "use the projected journeys under conversions:read.",
)
INVALID_STATE = Code(
    "invalid_state",
    409,
    "The object's state does not allow this.",
    "The operation is a valid one, but not from the state the object is in.",
    reasons=(
        "duplicate_name",
        "duplicate_subscription",
        "already_accepted",
        "already_revoked",
        "invitation_expired",
        "already_invited",
        "already_member",
        "last_owner",
        "inherited_membership",
        "key_not_active",
        "already_rotated",
        "already_on_plan",
        "storefront_billing",
        "no_billing_account",
        "not_marketplace_workspace",
        "domain_exists",
        "domain_missing",
        "dpa_version_outdated",
        "already_provisioned",
        "external_ref_in_use",
        "agreement_unsigned",
        "healthcare_workspace",
        "no_creative",
        "no_budget_of_type",
        "nothing_scored",
        "recommendation_closed",
        "connection_not_pending",
        "delivery_in_progress",
        "event_name_taken",
        "goal_built_in",
        "sign_up_refused",
    ),
)
RATE_LIMIT_EXCEEDED = Code(
    "rate_limit_exceeded",
    429,
    "Too many requests; wait for the seconds given in Retry-After.",
    "An allowance is spent, or with `concurrency` as much is under way as may be at once: four requests of a "
    "credential to routes of 3 units, one change of an object. Retry-After says in how many seconds to try again; the "
    "refusal costs nothing.",
    reasons=(
        "request_rate",
        "concurrency",
        "utm_scans_hourly",
        "analysis_calls_hourly",
        "analysis_daily_profile",
        "analysis_daily_key",
        "profile_creation_hourly",
        "sign_in_attempts",
        "sign_up_attempts",
        "registration_attempts",
    ),
)
CONNECTION_NOT_READY = Code(
    "connection_not_ready",
    409,
    "The connection is not ready for use.",
    "Its set-up is unfinished, it holds no usable token, or it was ended: then connect the account again.",
)
CONNECTION_REVOKED = Code(
    "connection_revoked",
    409,
    "Access to the connected account was revoked.",
    "The provider no longer accepts the connection's token. Do not retry: connect again at reconnect_url.",
    extra=("reconnect_required", "reconnect_url"),
)
PROVIDER_ERROR = Code(
    "provider_error",
    502,
    "The provider did not give a usable answer.",
    "An upstream provider failed, timed out or answered something unreadable. A retry may succeed.",
    reasons=("timeout", "unavailable", "bad_response", "throttled", "refused"),
    extra=("provider_code", "provider_message"),
)
ACCOUNT_SUSPENDED = Code(
    "account_suspended",
    403,
    "The provider suspended the mailbox account.",
    "Sending e-mail: the provider suspended the account. Do not retry.",
    reserved=MAIL,
)
AUTH_REVOKED = Code(
    "auth_revoked",
    403,
    "The mailbox grant was revoked.",
    "Sending e-mail: the grant is revoked, expired or lacks the permission to send.",
    extra=("reconnect_required", "reconnect_url"),
    reserved=MAIL,
)
MAILBOX_DISABLED = Code(
    "mailbox_disabled",
    403,
    "The account has no usable mailbox.",
    "Sending e-mail: there is no mailbox, or its mail is turned off. Do not retry.",
    reserved=MAIL,
)
QUOTA_EXCEEDED = Code(
    "quota_exceeded",
    429,
    "The mailbox's own quota is spent.",
    "Sending e-mail: the mailbox is full or its daily limit is reached. Respect Retry-After.",
    reserved=MAIL,
)
RECIPIENT_REJECTED = Code(
    "recipient_rejected",
    422,
    "The provider refused this recipient.",
    "Sending e-mail: the address was refused. Correct it; the mailbox itself is fine.",
    reserved=MAIL,
)
SERVICE_UNAVAILABLE = Code(
    "service_unavailable",
    503,
    "A service this request needs is not available.",
    "Something the request depends on is not configured or down, the disk takes no writes or has no room to keep what "
    "was sent, or the answer took longer than its deadline.",
)
API_KEY_REQUIRED = Code(
    "api_key_required",
    403,
    "This route takes a partner app's API key only.",
    "Another kind of credential was used on a route for API keys, or one that no app holds where it must be a partner "
    "app's. A person erases a customer by POST /workspaces/{workspaceId}/customer-erasures, as an owner or admin.",
)
CUSTOMER_NOT_FOUND = Code(
    "customer_not_found",
    404,
    "No customer of this profile matches.",
    "No customer of the profile matches the selector; a customer of another profile answers the same.",
)
ACCOUNT_CONNECTED_ELSEWHERE = Code(
    "account_connected_elsewhere",
    409,
    "This account is already connected to another profile of the workspace.",
    "The chosen provider account belongs to another profile's connection. Disconnect it there, or choose another.",
)
CONVERSION_NOT_FOUND = Code(
    "conversion_not_found",
    404,
    "No conversion of this profile has that handle.",
    "The conversion id, payment reference or event key is unknown in this profile.",
)
EVENT_NOT_FOUND = Code(
    "event_not_found",
    404,
    "No event of this profile has that key.",
    "No event with this idempotency_key came in through POST /events of this profile.",
)
EVENT_ALREADY_EXPORTED = Code(
    "event_already_exported",
    409,
    "The event was already handed to an export.",
    "An export row exists for the event, in whatever state, so it cannot be retracted. Do not retry.",
)
EVENT_LINKED_TO_CONVERSATION = Code(
    "event_linked_to_conversation",
    409,
    "A conversation recorded this event as its lead.",
    "Retracting the event would delete the conversation's lead; nothing was deleted. Do not retry.",
)
ERASURE_NOT_FOUND = Code(
    "erasure_not_found",
    404,
    "No erasure of this profile has that id.",
    "There is no erasure receipt with this id in the profile.",
)
LINK_TOKENS_DISABLED = Code(
    "link_tokens_disabled",
    503,
    "Link tokens are turned off on this deployment.",
    "No signing secret is configured. Do not retry; send links without the token.",
)
FEATURE_RETIRED = Code(
    "feature_retired",
    410,
    "This endpoint is retired.",
    "The endpoint was withdrawn on purpose, and the message names what replaces it; or, of the collector, the tracking"
    " key was revoked or its profile archived. Do not retry.",
)
NOT_IMPLEMENTED = Code(
    "not_implemented",
    501,
    "This deployment or provider cannot do that.",
    "The capability is absent from this deployment or from the provider behind the connection.",
)
INTERNAL_ERROR = Code(
    "internal_error",
    500,
    "Something went wrong on our side; quote the request_id.",
    "An unforeseen failure. No detail leaves the service; the request_id finds it in the logs.",
)
CALENDAR_SCOPE_REQUIRED = Code(
    "calendar_scope_required",
    403,
    "The calendar grant lacks a scope.",
    "The provider's grant does not include the calendar permission needed.",
    reserved=CALENDARS,
)
CALENDAR_UNSUPPORTED = Code(
    "calendar_unsupported",
    422,
    "This calendar is not managed here.",
    "The calendar is unknown, or one that the service does not manage.",
    reserved=CALENDARS,
)
PROVIDER_NOT_CONFIGURED = Code(
    "provider_not_configured",
    501,
    "This calendar provider is not configured.",
    "The deployment has no app registration with the calendar provider.",
    reserved=CALENDARS,
)
INVALID_WINDOW = Code(
    "invalid_window",
    400,
    "The window is longer than 90 days.",
    "A read of calendar events asked for more than 90 days.",
    reserved=CALENDARS,
)
MEDIA_EXPIRED = Code(
    "media_expired",
    410,
    "This media is no longer available.",
    "The media id is older than 7 days, or the platform stopped serving it.",
)
CHATAPP_REGISTER_LIMIT = Code(
    "chatapp_register_limit",
    429,
    "The platform's cap on number registrations is reached.",
    "The platform allows 10 attempts per number in 72 hours.",
    reserved=REGISTRATION,
)
CHATAPP_PAYMENT_REQUIRED = Code(
    "chatapp_payment_required",
    402,
    "The business account has no working payment method.",
    "The chat-app platform reports no funding source, or a declined one.",
)
MESSAGING_WINDOW_CLOSED = Code(
    "messaging_window_closed",
    422,
    "The messaging window is closed.",
    "The time in which a reply is allowed has passed; nothing was sent.",
    reserved=MESSAGES,
)
PAGECHAT_FEATURE_NOT_APPROVED = Code(
    "pagechat_feature_not_approved",
    403,
    "The platform has not approved a feature this message needs.",
    "A page-chat feature or permission awaits the platform's approval; nothing was sent.",
    reserved=MESSAGES,
)
CHATAPP_OTP_RELAY_UNAVAILABLE = Code(
    "chatapp_otp_relay_unavailable",
    503,
    "The one-time-code relay is unreachable.",
    "The store that relays one-time codes cannot be reached.",
    reserved="No one-time-code relay is served.",
)
AUDIT_TIMEOUT = Code(
    "audit_timeout",
    504,
    "The scan did not finish in time.",
    "The UTM scan took longer than its budget. The last summary can still be read; retry later.",
)
DATABASE_UNAVAILABLE = Code(
    "database_unavailable",
    503,
    "The database cannot be reached; retry after the seconds in Retry-After.",
    "The operational database or the published data cannot be opened. Nothing was written; repeat the same request.",
)
WEAK_PASSWORD = Code(
    "weak_password",
    422,
    "The new password is too short or too long.",
    "A new password has 15 to 256 characters.",
)
COMPROMISED_PASSWORD = Code(
    "compromised_password",
    422,
    "The new password is known from a breach.",
    "The new password is in the list of passwords known from breaches.",
)
CURRENT_PASSWORD_REQUIRED = Code(
    "current_password_required",
    400,
    "The current password is needed.",
    "The account has a password, and the request to change it left the current one out.",
)
CURRENT_PASSWORD_INVALID = Code(
    "current_password_invalid",
    400,
    "The current password is not right.",
    "The current password did not verify.",
)
PLAN_UPGRADE_REQUIRED = Code(
    "plan_upgrade_required",
    402,
    "The workspace's plan does not include this.",
    "An allowance of the plan is used up, or the feature belongs to a higher plan.",
)
CHATAPP_SERVICE_WINDOW_EXPIRED = Code(
    "chatapp_service_window_expired",
    422,
    "The customer-service window is closed.",
    "More than 24 hours have passed since the customer's last chat-app message.",
    reserved=MESSAGES,
)
PAYLOAD_TOO_LARGE = Code(
    "payload_too_large",
    413,
    "The body is larger than this route takes.",
    "A body over its limit (1 MiB unless the route says otherwise), or media over the limit of its kind.",
)
PROFILE_LIMIT_REACHED = Code(
    "profile_limit_reached",
    403,
    "The plan's number of active profiles is reached (plan limit reached).",
    "The workspace holds as many active profiles as its plan allows. `upgrade.plan` names one that allows more.",
    extra=("upgrade_required", "upgrade"),
)
IDEMPOTENCY_KEY_CONFLICT = Code(
    "idempotency_key_conflict",
    409,
    "This Idempotency-Key was used for a different request.",
    "The key belongs to another operation or to the same one with another body. Use a fresh key, or the first body.",
)
IDEMPOTENCY_KEY_IN_FLIGHT = Code(
    "idempotency_key_in_flight",
    409,
    "The first request with this Idempotency-Key is still running.",
    "Retry the same key with growing pauses. Once finished, the answer is replayed for 24 hours.",
)
DEMO_PURGE_BLOCKED = Code(
    "demo_purge_blocked",
    409,
    "Part of the demo data is kept as audit evidence.",
    "The demo profile is archived and its data removed, but rows that are audit evidence stay. Nothing more to do.",
)
WORKSPACE_ARCHIVED = Code(
    "workspace_archived",
    410,
    "The workspace of this invitation is archived.",
    "The invitation can no longer be accepted. Do not retry.",
)
APP_PROVISIONED_WORKSPACE = Code(
    "app_provisioned_workspace",
    403,
    "The service sends no e-mail to people of this workspace.",
    "A consumer app provisioned the workspace, so its people get no e-mail from here, whatever the credential.",
)
AUDIENCE_TOS_REQUIRED = Code(
    "audience_tos_required",
    428,
    "The ad account has not accepted the custom-audience terms.",
    "The platform has no record of the acceptance. The advertiser accepts them there; then send the request again.",
)
PLATFORM_SAFE_AUDIENCES_DISABLED = Code(
    "platform_safe_audiences_disabled",
    409,
    "Audiences are off in Platform-Safe mode.",
    "A Platform-Safe profile sends no audiences other than an enabled partner customer list.",
)
CUSTOMER_NOT_IN_PROFILE = Code(
    "customer_not_in_profile",
    422,
    "The named customer is not one of this profile.",
    "The customer is unknown here, belongs to another profile, or was merged or erased.",
)
PLATFORM_SAFE_REQUIRED = Code(
    "platform_safe_required",
    409,
    "The profile is not in Platform-Safe mode.",
    "A clean dataset makes sense in Platform-Safe mode only. Set privacy_mode to platform_safe first.",
)
PLATFORM_WRITE_PERMISSION_MISSING = Code(
    "platform_write_permission_missing",
    403,
    "The ad connection may read but not write.",
    "The advertiser must connect again and accept the permission to manage ads.",
)
CAMPAIGN_NOT_FOUND = Code(
    "campaign_not_found",
    404,
    "No campaign of this profile has that id.",
    "No campaign with this platform id is in the profile; a malformed id answers the same.",
)
TEMPLATE_NOT_FOUND = Code(
    "template_not_found",
    404,
    "No template has that name and language.",
    "The connection's template cache has no such name and language. A new template appears after a sync.",
)
INSIGHTS_ENABLING = Code(
    "insights_enabling",
    409,
    "Template insights were just switched on.",
    "The platform needs some time before template insights can be read.",
    extra=("retry_after_seconds",),
    reserved=INSIGHTS,
)
INSIGHTS_UNSUPPORTED = Code(
    "insights_unsupported",
    422,
    "The platform offers no template insights for this account.",
    "The account's kind has no template insights. A retry does not help.",
    reserved=INSIGHTS,
)
PLATFORM_UNAVAILABLE = Code(
    "platform_unavailable",
    502,
    "The platform cannot be reached.",
    "The platform failed while template analytics were read.",
    reserved=INSIGHTS,
)
CAMPAIGN_NOT_PAUSABLE = Code(
    "campaign_not_pausable",
    409,
    "An archived or deleted campaign cannot be paused.",
    "The live status is ARCHIVED or DELETED. Nothing was written; the attempt is in the audit trail.",
)
CAMPAIGN_NOT_RESUMABLE = Code(
    "campaign_not_resumable",
    409,
    "An archived or deleted campaign cannot be resumed.",
    "The live status is ARCHIVED or DELETED. Nothing was written; the attempt is in the audit trail.",
)
CAMPAIGN_NOT_EDITABLE = Code(
    "campaign_not_editable",
    409,
    "The budget of an archived or deleted campaign cannot change.",
    "The live status is ARCHIVED or DELETED. Nothing was written; the attempt is in the audit trail.",
)
ADSET_NOT_EDITABLE = Code(
    "adset_not_editable",
    409,
    "The budget of an archived or deleted ad set cannot change.",
    "The ad set or its campaign is ARCHIVED or DELETED. Nothing was written; the attempt is in the audit trail.",
)
BUDGET_CHANGE_OUT_OF_BOUNDS = Code(
    "budget_change_out_of_bounds",
    422,
    "A budget moves by at most 50 percent in one step, and never below 100 minor units.",
    "The step from the live budget is too large, or the new budget too small. Nothing was written.",
)
CLEAN_DATASET_HAS_LIVE_AD_SETS = Code(
    "clean_dataset_has_live_ad_sets",
    409,
    "Live ad sets still optimise on the clean dataset.",
    "Switching back would starve the ad sets that deliver on it, or nobody could read whether any do; of messaging "
    "datasets nobody can. Move or pause them, or send confirm_live_ad_sets true.",
)
PLATFORM_CONNECTION_REQUIRED = Code(
    "platform_connection_required",
    409,
    "The profile has no usable ad-platform connection.",
    "The profile has no connected ad account there. Of datasets and customer lists also: it has several, and no enabled"
    " destination names one; or the one that is meant has no dataset, or was disconnected.",
)
CONSENT_REQUIRED = Code(
    "consent_required",
    409,
    "A person must accept the current consent text first.",
    "The consent object is missing, outdated, older than 24 hours or dated in the future. Nothing was sent.",
    extra=("consent",),
)
AMOUNT_INVALID = Code(
    "amount_invalid",
    422,
    "The refund amount is not possible.",
    "The amount is zero, negative, above what is left of the payment, in another currency, or finer than its decimals.",
)
MANUAL_REFUND_EXISTS = Code(
    "manual_refund_exists",
    422,
    "The payment already has a manual refund.",
    "A payment carries one manual refund at most. Delete it first.",
)
PAYMENT_ASSIGNMENT_INCOMPLETE = Code(
    "payment_assignment_incomplete",
    502,
    "The payer is stored, but not yet taken over everywhere.",
    "The assignment was recorded and its effects are not complete. Retry the same request.",
    reserved=PAYERS,
)
PAYMENT_REF_INVALID = Code(
    "payment_ref_invalid",
    422,
    "A payment reference has the form provider:id.",
    "The payment reference is malformed.",
)
STATUS_INVALID = Code(
    "status_invalid",
    422,
    "status must be all or unidentified.",
    "The status parameter of the payments list has another value.",
)
RANGE_INVALID = Code(
    "range_invalid",
    422,
    "from and to must both be timestamps, in order.",
    "One of the two is absent, cannot be read as a timestamp, or they are out of order.",
)
UNKNOWN_ANSWER_KEY = Code(
    "unknown_answer_key",
    422,
    "This answer_key is not in the vocabulary.",
    "Use a listed key, or `other` with answer_text. Nothing was written.",
)
UNKNOWN_CUSTOMER_REF = Code(
    "unknown_customer_ref",
    422,
    "This external_ref names no customer, and no e-mail or phone came with it.",
    "A customer is never created from a reference alone. Nothing was written.",
)
CHATAPP_CONNECTION_REQUIRED = Code(
    "chatapp_connection_required",
    409,
    "The profile has no connected chat-app account.",
    "The operation needs a live chat-app business account. Nothing was written or sent.",
)
SOCIAL_CONNECTION_REQUIRED = Code(
    "social_connection_required",
    409,
    "The profile has no connected social account.",
    "The social dataset needs a connected professional account. Nothing was written or sent.",
)
SOCIAL_PAGE_LOGIN_REQUIRED = Code(
    "social_page_login_required",
    409,
    "The social account must be connected through its page.",
    "The profile's account uses the direct login. Connect it through the page-linked login, then retry.",
)
DESTINATION_CONFLICT = Code(
    "destination_conflict",
    409,
    "The profile already has such a destination.",
    "Another destination has the same kind, connection and target; a disabled one still holds its place.",
    extra=("conflicting_destination_id",),
)
UNKNOWN_AD = Code(
    "unknown_ad",
    422,
    "This ad_id is not one of the profile's ads.",
    "Neither the synced ads nor the history of delivery know the id. Nothing was written.",
)

CATALOGUE: dict[str, Code] = {item.code: item for item in list(globals().values()) if isinstance(item, Code)}
