"""What the file of a report is called for people."""

from __future__ import annotations

import re
import unicodedata
from urllib.parse import quote

from werkzeug.http import dump_options_header

from api.models import Report

LONGEST = 40


def attachment_name(report: Report, profile_name: str) -> str:
    """Letters, digits and hyphens of the profile's name, of any script, then the template and the last day."""
    kept = (sign if unicodedata.category(sign)[0] in "LMN" else " " for sign in profile_name)
    words = "-".join("".join(kept).split())[:LONGEST].rstrip("-") or "report"
    return f"{words}-{report.template.replace('_', '-')}-{report.date_to}.{report.format}"


def attachment(name: str) -> str:
    """The Content-Disposition of a file of this name, with a plainer one for who reads ASCII alone (RFC 6266)."""
    if name.isascii():
        return dump_options_header("attachment", {"filename": name})
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    names = {"filename": "-".join(re.findall(r"[A-Za-z0-9.]+", plain)), "filename*": f"UTF-8''{quote(name)}"}
    return dump_options_header("attachment", names)
