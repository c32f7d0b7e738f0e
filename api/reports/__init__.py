"""Reports: what is in one, how it looks, and when it is made and sent."""

TEMPLATES = ("performance_summary", "creative_review", "pacing")
FORMATS = ("html", "pdf", "csv")
LOCALES = ("en", "es")
MIME = {"html": "text/html", "pdf": "application/pdf", "csv": "text/csv"}
# whose rows a template lists, and what stands in it
LEVELS = {"performance_summary": "campaign", "creative_review": "ad", "pacing": "campaign"}
SECTIONS = {
    "performance_summary": ("headlines", "days", "campaigns", "sources"),
    "creative_review": ("headlines", "best_ads", "ads"),
    "pacing": ("headlines", "cumulative", "days"),
}
