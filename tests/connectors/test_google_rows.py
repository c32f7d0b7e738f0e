"""What Google's words for ads become here."""

from __future__ import annotations

import pytest

from connectors.google_rows import ad_name, breakdown, claims, creative, delivery, form


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


def test_an_ad_is_called_by_its_name_or_what_it_says_first_or_its_id() -> None:
    texts = {"headlines": [{"text": ""}, {"text": "Warm socks"}]}
    shown = {"id": "7", "name": "Spring", "responsiveSearchAd": texts}
    nameless = {**shown, "name": ""}
    assert [ad_name(one) for one in (shown, nameless, {"id": "7"})] == ["Spring", "Warm socks", "Ad 7"]


def test_the_first_video_of_an_ad_is_told_by_its_id() -> None:
    videos = [{"asset": "customers/1/assets/88"}, {"asset": "customers/1/assets/89"}]
    shown = {"id": "7", "type": "VIDEO_RESPONSIVE_AD", "videoResponsiveAd": {"videos": videos}}
    row = creative({"adGroupAd": {"ad": shown}})
    assert row is not None
    assert (row["format"], row["video_id"]) == ("video", "88")


def test_a_figure_that_google_leaves_out_is_nothing() -> None:
    about = {"campaign": {"id": "1"}, "adGroup": {"id": "2"}, "adGroupAd": {"ad": {"id": "3"}}, "metrics": {}}
    row = {**about, "segments": {"date": "2026-03-01", "adNetworkType": "SEARCH"}}
    whole = {**delivery(row, "9", "USD"), **claims(row)}
    names = ("spend", "impressions", "clicks", "platform_conversions", "platform_conversion_value")
    assert [whole[name] for name in names] == [0] * 5
    assert (breakdown(row)["spend"], breakdown(row)["impressions"]) == (0, 0)
