"""The kinds of events that subscriptions may ask for; `docs/webhooks.md` says what each one carries."""

from __future__ import annotations

from types import MappingProxyType

EVERY = "*"
TEST = "webhook.test"
KINDS = MappingProxyType(
    {
        "catalog.updated": "Products or variants changed; at most once a minute for each connection.",
        "channel.health.updated": "The state of a connection changed.",
        "connection.reconnect_required": "A connection lost its grant and has to be connected anew.",
        "attribution.snapshot.published": "A snapshot of the figures was published.",
        "top_performers.updated": "The daily scores were rebuilt.",
        "conversion_export.sent": "A batch of conversions was accepted by a destination.",
        "conversion_export.failed": "A batch of conversions failed for good.",
        "conversion_export.skipped": "A batch of conversions was not sent, each for its reason.",
        "creative_analysis.completed": "The analysis of a creative ended.",
        "recommendation.opened": "There is a new recommendation.",
        "report.ready": "A report was rendered, or could not be.",
        "template.updated": "A message template changed its state.",
        "customer.erased": "The erasure of a customer was completed.",
        "import.finished": "A file was loaded or rejected.",
        TEST: "Somebody asked for a test.",
    }
)
