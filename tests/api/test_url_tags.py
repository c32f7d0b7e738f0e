"""What is wrong with the link of an ad: one case per check, and what is told of personal data."""

from __future__ import annotations

import pytest

from api import url_tags

GOOD = url_tags.suggested("meta")
AD = "120230000000000001"
SHOP = "https://shop.example/boots"


def found(tags: str | None, *, landing: str | None = SHOP, platform: str = "meta") -> list[str]:
    return url_tags.issues(platform=platform, ad_id=AD, landing_url=landing, url_tags=tags)


@pytest.mark.parametrize("platform", [*url_tags.MACROS, "newcomer"])
def test_the_suggested_parameters_pass_every_check(platform: str) -> None:
    tags = url_tags.suggested(platform).replace("<ad id>", AD)
    assert found(tags, platform=platform) == []


@pytest.mark.parametrize(
    ("ad", "is_asset_group", "issues"),
    [
        ("{creative}", False, []),
        ("{creative}", True, ["missing_ad_id"]),
        ("{assetgroupid}", False, ["missing_ad_id"]),
        ("{assetgroupid}", True, []),
        # in a suffix of the whole account
        ("{creative}{assetgroupid}", False, []),
        ("{creative}{assetgroupid}", True, []),
    ],
)
def test_an_asset_group_of_googles_is_named_by_a_macro_of_its_own(
    ad: str, is_asset_group: bool, issues: list[str]
) -> None:
    tags = f"utm_source=google&utm_medium=paid&ad_id={ad}"
    asked = {"platform": "google", "ad_id": AD, "landing_url": SHOP, "is_asset_group": is_asset_group}
    assert url_tags.issues(url_tags=tags, **asked) == issues
    own = url_tags.suggested("google", is_asset_group=is_asset_group)
    assert url_tags.issues(url_tags=own, **asked) == []
    assert "{adgroupid}" in own or is_asset_group
    # a click that named no ad does not tell behind which of the two it was
    assert url_tags.issues(url_tags=url_tags.suggested_for_any("google"), **asked) == []


@pytest.mark.parametrize(
    ("tags", "landing", "issues"),
    [
        (None, SHOP, ["missing_utm_source", "missing_utm_medium", "missing_ad_id"]),
        ("", None, ["missing_utm_source", "missing_utm_medium", "missing_ad_id"]),
        (GOOD.replace("utm_source=meta&", ""), SHOP, ["missing_utm_source"]),
        (GOOD.replace("utm_source=meta", "utm_source="), SHOP, ["missing_utm_source"]),
        (GOOD.replace("utm_source=meta&", ""), f"{SHOP}?utm_source=meta", []),
        (GOOD.replace("utm_medium=paid&", ""), SHOP, ["missing_utm_medium"]),
        (GOOD.replace("&ad_id={{ad.id}}", ""), SHOP, ["missing_ad_id"]),
        (GOOD.replace("{{ad.id}}", AD), SHOP, []),
        (GOOD.replace("{{ad.id}}", "120230000000000002"), SHOP, ["missing_ad_id"]),
        (GOOD.replace("{{ad.id}}", "{{adset.id}}"), SHOP, ["missing_ad_id"]),
        (GOOD.replace("{{ad.id}}", "{{ad.name}}"), SHOP, ["missing_ad_id"]),
        (GOOD.replace("{{ad.id}}", "{{ad_id}}"), SHOP, ["macro_not_expanded"]),
        (GOOD.replace("{{ad.id}}", "{creative}"), SHOP, ["macro_not_expanded"]),
        (GOOD.replace("{{ad.id}}", "__CID__"), SHOP, ["macro_not_expanded"]),
        (GOOD.replace("{{ad.id}}", "%7B%7Bad.id%7D%7D"), SHOP, []),
        (f"?{GOOD}", SHOP, []),
        (f"{GOOD}&UTM_Source=meta", SHOP, ["duplicate_parameter"]),
        (GOOD, f"{SHOP}?utm_medium=cpc", ["duplicate_parameter"]),
        (GOOD, f"{SHOP}#/route?utm_source=meta", ["parameters_after_fragment"]),
        (GOOD, f"{SHOP}#reviews", []),
        (GOOD.replace("=meta&utm", "=Meta&utm"), SHOP, ["mixed_case_source"]),
        (GOOD.replace("utm_source=meta", "utm_source={{site_source_name}}"), SHOP, []),
        (f"{GOOD}&contact=ada%40example.com", SHOP, ["personal_data_in_url"]),
        (f"{GOOD}&contact=+1 415 555 0100", SHOP, ["personal_data_in_url"]),
        (f"{GOOD}&contact=%2B14155550100", SHOP, ["personal_data_in_url"]),
        (f"{GOOD}&phone=4155550100", SHOP, ["personal_data_in_url"]),
        (GOOD, f"{SHOP}?e=ada@example.com", ["personal_data_in_url"]),
        (GOOD, "https://[broken", []),
        (f"{GOOD}&&=&x", SHOP, []),
    ],
)
def test_each_fault_is_told_by_its_check(tags: str | None, landing: str | None, issues: list[str]) -> None:
    assert found(tags, landing=landing) == issues


@pytest.mark.parametrize(
    ("value", "issues"),
    [
        ("{ifmobile:phone}{ifnotmobile:desk}", []),
        ("{ifsearch:search}{ifcontent:display}", []),
        ("{_shelf}", []),
        ("{param1:spring}{product_channel}{store_code}", []),
        ("{assetgroupid}", []),
        ("{shelf}", ["macro_not_expanded"]),
        ("{ifmars:red}", ["macro_not_expanded"]),
        ("{_a name that is none}", ["macro_not_expanded"]),
    ],
)
def test_googles_own_macros_are_known_with_conditions_and_with_those_that_an_advertiser_made(
    value: str, issues: list[str]
) -> None:
    assert found(f"{url_tags.suggested('google')}&place={value}", platform="google") == issues


def test_personal_data_is_hidden_and_the_rest_told_as_it_stands() -> None:
    assert url_tags.shown("utm_source=Meta&mail=ada%40example.com&x=%2B14155550100&ad_id={{ad.id}}") == (
        "utm_source=Meta&mail=***&x=***&ad_id={{ad.id}}"
    )
    assert url_tags.shown("") is url_tags.shown(None) is None


@pytest.mark.parametrize(
    ("landing", "host"), [("https://Shop.Example:443/x", "shop.example"), ("https://[broken", None), (None, None)]
)
def test_of_a_landing_url_the_host_is_told(landing: str | None, host: str | None) -> None:
    assert url_tags.host(landing) == host
