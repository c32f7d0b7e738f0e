"""What the file of a report is called for people."""

from __future__ import annotations

import re

from api.models import Report


def attachment_name(report: Report, profile_name: str) -> str:
    """Letters, digits and hyphens of the profile's name, then the template and the last day."""
    words = "-".join(re.findall(r"[A-Za-z0-9]+", profile_name))[:40] or "report"
    return f"{words}-{report.template.replace('_', '-')}-{report.date_to}.{report.format}"
