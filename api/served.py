"""The published tables the API may read, and the one way to read them.

`TABLES` is compared with `data_contracts/served/` by a test and with each snapshot when it is opened: a file that lacks
a column is never served. SQL text stays in the `queries.py` of each noun; values are always bound parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any, Protocol

import duckdb

from api.shelf import Shelf

LEVELS = ("campaign", "ad_set", "ad")
MODELS = ("last_touch", "first_touch", "linear", "time_decay", "last_non_direct")
CONVERSION_TYPES = (
    "appointment_attended",
    "appointment_booked",
    "closed_won",
    "dm_started",
    "lead_created",
    "payment_received",
    "quote_presented",
)
REVENUE_TYPES = ("cash", "pipeline", "gross")
# the columns that count outcomes: the seven types, and a profile's own goals by what they are worth
OUTCOMES = (*CONVERSION_TYPES, *(f"custom_{worth}" for worth in REVENUE_TYPES))
# SQL over those columns
ALL_OUTCOMES = " + ".join(OUTCOMES)
CASH_OUTCOMES = ("payment_received", "custom_cash")
PAYMENTS = " + ".join(CASH_OUTCOMES)
CHANNELS = ("chatapp", "social", "pagechat", "web", "other")
ORIGINS = ("partner_ad_referral", "conversation_referral", "web", "other")
UNNAMED = ("no_ad_parameter", "macro_not_expanded", "malformed_ad_id", "unknown_ad_id", "parent_only")
REASONS = ("paid_without_ad", "unknown_ad", "parent_only", "other_channel", "direct", "no_touch")
BASES = ("click_view_modeled", "click_only", "unknown")
# layers of the funnel that scores are made of, in its order, and what is told of an ad in each
LAYERS = (
    "delivery",
    "attention",
    "retention",
    "engagement",
    "click_intent",
    "postclick_messaging",
    "reply_quality",
    "platform_conversions",
    "attributed_pipeline",
    "attributed_revenue",
)
LAYER_FIGURES = ("percentile", "reliability", "reason_rank")

TABLES: Mapping[str, tuple[str, ...]] = {
    "profiles": (
        "profile_key", "profile_id", "time_zone", "currency", "currency_digits", "settings_version",
        "lookback_days", "half_life_days", "delivery_through", "data_as_of",
    ),
    "entities": (
        "profile_key", "level", "entity_key", "entity_id", "platform", "platform_id", "name", "status", "objective",
        "daily_budget_minor", "budget_currency", "campaign_key", "ad_set_key", "parent_name", "campaign_platform_id",
        "ad_set_platform_id",
    ),
    "delivery_daily": (
        "profile_key", "level", "day", "entity_key", "spend_minor", "impressions", "clicks", "link_clicks",
        "messaging_conversations_started_7d", "video_3s_views", "video_15s_views", "platform_conversions",
        "platform_conversion_value_minor",
    ),
    "entity_reach": ("profile_key", "level", "entity_key", "date_from", "date_to", "reach"),
    "credit_daily": (
        "profile_key", "model", "level", "day", "entity_key", "custom_type", *OUTCOMES, "cash_minor",
        "pipeline_minor",
    ),
    "unattributed_daily": ("profile_key", "model", "level", "day", "reason", "custom_type", *OUTCOMES, "cash_minor"),
    "outcomes_daily": ("profile_key", "day", "custom_type", *OUTCOMES, "cash_minor"),
    "declared_sources": ("profile_key", "day", "answer_key", "answers", "conversions", "cash_minor"),
    "platforms": ("profile_key", "platform", "reported_basis", "delivery_through", "unrated_through"),
    "platform_credit_daily": ("profile_key", "model", "platform", "day", *OUTCOMES, "cash_minor"),
    "unassigned_daily": (
        "profile_key", "model", "level", "platform", "day", "conversions", "cash_conversions", "cash_minor",
    ),
    "ad_creatives": (
        "profile_key", "entity_key", "created_at", "creative_id", "format", "thumbnail_url", "video_id", "title",
        "body", "call_to_action", "landing_host", "url_tags", "hook_type", "creative_format", "cta_type",
        "primary_angle", "offers", "creative_hash", "analysed_at",
    ),
    "ad_likelihoods": (
        "profile_key", "score_window", "entity_key", "measure", "value", "label", "status", "reason", "model_version",
    ),
    "ad_scores": (
        "profile_key", "score_window", "entity_key", "score_date", "day_from", "config_version", "composite_score",
        "reliability", "coverage", "delivery_days", "maturity_stage", "truth_grade", "primary_outcome_kind",
        "cohort_key", "cohort_channel", "cohort_format", "cohort_objective", "cohort_audience_warmth", "cohort_n_ads",
        "spend_minor", "impressions", "clicks", "link_clicks", "attributed_cash_outcomes", "attributed_revenue_minor",
        "attributed_outcomes_total", "attributed_pipeline_outcomes", "attributed_pipeline_value_minor",
        "platform_reported_conversions", "platform_reported_conversion_value_minor", "messaging_conversations_started",
        "messaging_first_replies", "avg_engagement_score",
    ),
    "ad_score_layers": (
        "profile_key", "score_window", "entity_key", "confidence_low_below", "confidence_medium_below",
        *(f"{layer}_{figure}" for layer in LAYERS for figure in LAYER_FIGURES),
    ),
    "payments": (
        "profile_key", "payment_ref", "ts", "value", "refunded", "refunded_by_hand", "refunded_beyond", "currency",
        "person_ref", "payer_hint",
    ),
    "payment_names": ("profile_key", "payment_ref", "name"),
    "payment_keys": ("profile_key", "event_key", "outcome_event_id", "payment_ref"),
    "products": (
        "profile_key", "updated_at", "product_id", "connection_ref", "status", "title", "handle", "vendor",
        "product_type", "tags", "image_url", "url", "currency", "created_at",
    ),
    "variants": (
        "profile_key", "product_id", "connection_ref", "variant_id", "position", "title", "sku", "barcode", "price",
        "compare_at_price", "inventory_quantity", "inventory_policy", "tracked", "options", "updated_at",
    ),
    "orders": (
        "profile_key", "order_id", "connection_ref", "created_at", "order_ref", "email_id", "phone_id", "updated_at",
        "processed_at", "cancelled_at", "financial_status", "fulfillment_status", "currency", "subtotal",
        "total_discounts", "total_shipping", "total_tax", "total", "refunded_total",
    ),
    "order_lines": (
        "profile_key", "order_id", "connection_ref", "line_id", "product_id", "variant_id", "sku", "title",
        "quantity", "price",
    ),
    "people_cells": ("profile_key", "channel", "origin", "day", "prev", "people", "touches"),
    "people_cells_ad": ("profile_key", "channel", "origin", "ad_key", "day", "prev", "people", "touches"),
    "people_months_ad": ("profile_key", "channel", "origin", "ad_key", "month", "prev", "people", "touches"),
    "people_first": ("profile_key", "day", "channel", "origin", "ad_key", "people"),
    "people_ads": ("profile_key", "ad_key", "ad_id", "ad_name", "entity_key"),
    "paid_clicks": (
        "profile_key", "day", "platform", "reason", "landing_host", "utm_source", "utm_medium", "utm_campaign",
        "click_id_type", "clicks", "conversions", "cash_minor",
    ),
    "person_identifiers": ("profile_key", "identifier_id", "person_ref", "alias_ref", "person_key"),
    "match_keys": (
        "profile_key", "person_key", "email_sha256", "phone_sha256", "external_id_sha256", "is_refused",
    ),
    "conversion_clicks": ("profile_key", "conversion_key", "person_key", "fbclid", "clicked_s"),
    "customers": (
        "profile_key", "person_key", "person_ref", "first_seen", "last_seen", "conversions", "cash_minor", "touches",
        "touch_channels", "first_ad_external_id",
    ),
    "customer_days": ("profile_key", "day", "person_key"),
    "visitors": (
        "profile_key", "visitor_key", "visitor_id", "person_key", "person_ref", "last_seen", "sessions", "pageviews",
        "channel", "source", "country", "device",
    ),
    "visitor_days": ("profile_key", "day", "visitor_key"),
    "conversions": (
        "profile_key", "day", "conversion_id", "conversion_key", "conversion_ref", "outcome_event_id", "event_key",
        "source", "person_key", "person_ref", "is_shared", "conversion_type", "ts", "occurred_at", "is_cash",
        "revenue_type", "cash_minor", "refunded_minor", "pipeline_minor", "unrated_through", "path_conversion_key",
        "inherited_from", "touches",
        *(f"{model}_campaign" for model in MODELS),
    ),
    "touches": (
        "profile_key", "person_key", "position", "first_position", "touch_id", "ts", "channel", "origin", "source",
        "medium", "campaign_label", "ad_external_id", "destination_key", "is_direct", "is_paid",
    ),
    "destinations": (
        "profile_key", "destination_key", "platform", "campaign_key", "ad_set_key", "ad_key", "reason",
    ),
    "paths": (
        "profile_key", "conversion_key", "person_key", "p_from", "p_last", "p_first", "p_lnd", "n", "newest_ts",
        "ln2_over_hl", "s_dec", "is_capped",
    ),
    "credit_cents": ("profile_key", "conversion_key", "model", "destination_key", "cents"),
    "experiments": (
        "profile_key", "experiment_id", "platform", "platform_study_id", "name", "kind", "status", "start_date",
        "end_date", "objective", "lift", "ci_low", "ci_high", "is_conclusive", "winner_arm_id", "platform_lift",
        "platform_ci_low", "platform_ci_high", "platform_winner_arm_id", "platform_computed_at",
    ),
    "experiment_arms": (
        "profile_key", "experiment_id", "arm_id", "name", "role", "entity_level", "entity_ids", "population",
        "conversions", "attributed_outcomes", "spend_minor",
    ),
    "fx_latest": ("base", "quote", "rate", "rate_date"),
    "snapshot": ("snapshot_id", "token", "built_at", "schema_hash"),
}  # fmt: skip

# in the file of names (api/person_names.py), so that the one every figure is read from tells nobody's identity
NAMED: Mapping[str, tuple[str, ...]] = {
    "person_names": ("profile_key", "person_key", "first_name", "last_name", "email", "phone", "external_ref"),
}


class Reader(Protocol):
    """One request's view of one snapshot (`api.snapshot`)."""

    @property
    def snapshot_id(self) -> str: ...

    @property
    def remembered(self) -> dict[str, ProfileFacts | None]:
        """What was already looked up in this snapshot, by profile id; lives as long as the open file."""

    @property
    def shelf(self) -> Shelf:
        """What is kept in memory of this snapshot; lives as long as the open file."""

    def rows(self, sql: str, parameters: Mapping[str, object] | None = None) -> list[tuple[Any, ...]]: ...

    def dicts(self, sql: str, parameters: Mapping[str, object] | None = None) -> list[dict[str, Any]]: ...

    def columns(self, sql: str, parameters: Mapping[str, object] | None = None) -> dict[str, Any]:
        """A numpy array per column; none of them may hold nulls."""


@dataclass(frozen=True)
class ProfileFacts:
    """What a snapshot says of one profile; `digits` = decimals of its reporting currency (ISO 4217)."""

    profile_key: int
    time_zone: str
    currency: str
    digits: int
    settings_version: str
    lookback_days: int
    half_life_days: int
    delivery_through: date | None
    data_as_of: datetime | None


def missing(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Names of `table.column` that `TABLES` promises and this file lacks."""
    found = set(connection.execute("select table_name, column_name from duckdb_columns()").fetchall())
    return [f"{table}.{column}" for table, names in TABLES.items() for column in names if (table, column) not in found]


def profile_facts(reader: Reader, profile_id: str) -> ProfileFacts | None:
    """The profile as of this snapshot, or None when the snapshot was built without it."""
    if profile_id not in reader.remembered:
        found = reader.rows(
            """
            select profile_key, time_zone, currency, currency_digits, settings_version, lookback_days,
                half_life_days, delivery_through, data_as_of
            from profiles where profile_id = $profile_id
            """,
            {"profile_id": profile_id},
        )
        reader.remembered[profile_id] = _facts(found[0]) if found else None
    return reader.remembered[profile_id]


def _facts(row: Sequence[Any]) -> ProfileFacts:
    key, zone, currency, digits, version, lookback, half_life, through, as_of = row
    # DuckDB's TIMESTAMP carries no zone; ours are UTC throughout
    as_of = as_of and as_of.replace(tzinfo=UTC)
    return ProfileFacts(key, zone, currency, digits, version, lookback, half_life, through, as_of)
