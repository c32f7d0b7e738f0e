"""Version 1 of the interface: the one list of its blueprints."""

from __future__ import annotations

from api.http import Blueprint
from api.v1 import ad_sets, ads, analytics, apps, campaigns, conversions, members, payments, quality, retired
from api.v1.ads import changes as ad_changes
from api.v1.analytics import declared, realtime
from api.v1.attribution import ad_people, recompute, settings
from api.v1.billing import handoffs
from api.v1.billing import routes as billing
from api.v1.branding import routes as branding
from api.v1.branding import sender_domain
from api.v1.campaigns import changes as campaign_changes
from api.v1.campaigns import comparison, status
from api.v1.chatapp import media as chatapp_media
from api.v1.chatapp import templates as chatapp_templates
from api.v1.commerce import live
from api.v1.commerce import routes as commerce
from api.v1.connections import connecting, syncing
from api.v1.connections import routes as connections
from api.v1.conversion_sync import catalog, consent, data_sources, target
from api.v1.creative_analyses import routes as creative_analyses
from api.v1.creative_patterns import routes as creative_patterns
from api.v1.credentials import api_keys, api_usage, entering, mcp, me, resetting, tokens
from api.v1.customers import erasures, journeys, link_tokens
from api.v1.customers import listing as customers
from api.v1.events import routes as events
from api.v1.exports import ledger as export_ledger
from api.v1.exports import routes as export_destinations
from api.v1.exports import testing as export_tests
from api.v1.goals import routes as goals
from api.v1.imports import routes as imports
from api.v1.partner import audiences as partner_audiences
from api.v1.partner import routes as partner
from api.v1.profiles import agreement, demo, exclusions
from api.v1.profiles import app_routes as profiles_of_apps
from api.v1.profiles import creation as profile_creation
from api.v1.profiles import listing as profile_listing
from api.v1.profiles import settings as profile_settings
from api.v1.quality import utm
from api.v1.recommendations import routes as recommendations
from api.v1.reports import routes as reports
from api.v1.snapshots import routes as snapshots
from api.v1.top_performers import export as top_performers_export
from api.v1.top_performers import routes as top_performers
from api.v1.top_performers import workspace as top_performers_across
from api.v1.tracking import keys as tracking_keys
from api.v1.tracking import settings as tracker_settings
from api.v1.tracking import verifications as tracking_verifications
from api.v1.visitors import routes as visitors
from api.v1.webhooks import routes as webhooks
from api.v1.workspaces import compliance, currency, experiments, logs, pacing, tabs
from api.v1.workspaces import routes as workspaces

BLUEPRINTS: tuple[Blueprint, ...] = (
    campaigns.bp,
    comparison.bp,
    ads.bp,
    creative_analyses.bp,
    status.bp,
    campaign_changes.bp,
    ad_changes.bp,
    ad_sets.bp,
    creative_patterns.bp,
    top_performers.bp,
    top_performers_across.bp,
    top_performers_export.bp,
    snapshots.bp,
    recommendations.bp,
    ad_people.bp,
    quality.bp,
    utm.bp,
    events.bp,
    analytics.bp,
    declared.bp,
    realtime.bp,
    settings.bp,
    recompute.bp,
    goals.bp,
    tracking_keys.bp,
    tracker_settings.bp,
    tracking_verifications.bp,
    partner.bp,
    erasures.bp,
    retired.bp,
    payments.bp,
    imports.bp,
    conversions.bp,
    customers.bp,
    visitors.bp,
    journeys.bp,
    commerce.bp,
    live.bp,
    link_tokens.bp,
    branding.bp,
    sender_domain.bp,
    reports.bp,
    profile_listing.bp,
    entering.bp,
    resetting.bp,
    me.bp,
    tokens.bp,
    api_keys.bp,
    api_usage.bp,
    mcp.bp,
    workspaces.bp,
    profile_creation.bp,
    members.bp,
    profile_settings.bp,
    profiles_of_apps.bp,
    apps.bp,
    logs.bp,
    currency.bp,
    tabs.bp,
    exclusions.bp,
    agreement.bp,
    demo.bp,
    billing.bp,
    handoffs.bp,
    pacing.bp,
    experiments.bp,
    compliance.bp,
    webhooks.bp,
    catalog.bp,
    export_destinations.bp,
    export_tests.bp,
    export_ledger.bp,
    consent.bp,
    data_sources.bp,
    target.bp,
    partner_audiences.bp,
    connections.bp,
    connecting.bp,
    syncing.bp,
    chatapp_templates.bp,
    chatapp_media.bp,
)
