"""What Google's words for ads become here."""

from __future__ import annotations

import pytest

from connectors.google_rows import form


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("VIDEO_TRUEVIEW_IN_STREAM_AD", "video"),
        ("VIDEO_NON_SKIPPABLE_IN_STREAM_AD", "video"),
        ("VIDEO_BUMPER_AD", "video"),
        ("VIDEO_OUTSTREAM_AD", "video"),
        ("IN_FEED_VIDEO_AD", "video"),
        ("LEGACY_RESPONSIVE_DISPLAY_AD", "image"),
        ("HTML5_UPLOAD_AD", "image"),
        ("DYNAMIC_HTML5_AD", "image"),
        ("DEMAND_GEN_CAROUSEL_AD", "carousel"),
        ("SHOPPING_COMPARISON_LISTING_AD", "collection"),
        # texts, sounds, and what Google puts together of anything
        ("RESPONSIVE_SEARCH_AD", None),
        ("EXPANDED_TEXT_AD", None),
        ("YOUTUBE_AUDIO_AD", None),
        ("APP_AD", None),
    ],
)
def test_each_kind_of_ad_that_shows_something_has_a_form(kind: str, expected: str | None) -> None:
    assert form({"type": kind}) == expected
