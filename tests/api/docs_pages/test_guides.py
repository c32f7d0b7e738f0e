"""The guides of the site: pages of docs/, whose links lead where a reader of the site can go."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from api.docs_pages.article import DOCS, GUIDES, rendered

ADDRESSES = [f"/docs/{name}" for name in GUIDES]


@pytest.mark.parametrize("name", GUIDES)
def test_a_guide_has_the_title_and_every_heading_of_its_file(client: FlaskClient, name: str) -> None:
    text = re.sub(r"^```.*?^```", "", (DOCS / GUIDES[name].file).read_text(), flags=re.MULTILINE | re.DOTALL)
    page = client.get(f"/docs/{name}").text
    assert re.findall(r"<h1>(.+?)</h1>", page) == [text.splitlines()[0].removeprefix("# ").replace("'", "&#39;")]
    assert page.count(' id="') - 1 == len(re.findall(r"^##+ ", text, flags=re.MULTILINE))


@pytest.mark.parametrize("path", ADDRESSES)
def test_a_guide_holds_no_style_that_the_policy_of_pages_forbids(client: FlaskClient, path: str) -> None:
    assert not re.search(r"<[^>]+ style=", client.get(path).text)


def test_a_column_of_figures_stands_at_the_right(client: FlaskClient) -> None:
    assert '<td class="right">60</td>' in client.get("/docs/api").text


@pytest.mark.parametrize("path", ["/docs/guides", *ADDRESSES])
def test_a_link_of_a_guide_leads_to_a_page_and_to_a_place_on_it(client: FlaskClient, path: str) -> None:
    for address in set(re.findall(r'<a[^>]+href="([^"]+)"', client.get(path).text)):
        if address.startswith("https://"):
            continue
        target, _, anchor = address.partition("#")
        page = client.get(target or path)
        assert page.status_code == 200, address
        # of dbt's own page the script finds the place
        assert not anchor or target == "/docs/data" or f'id="{anchor}"' in page.text, address


def test_every_guide_is_listed_and_says_what_it_is_about(client: FlaskClient) -> None:
    page = client.get("/docs/guides").text
    assert re.findall(r'<li><a href="(/docs/[a-z-]+)">', page) == ADDRESSES
    for guide in GUIDES.values():
        assert f"<strong>{guide.label}</strong><span>{guide.about}</span>" in page


def test_the_introduction_of_the_reference_leads_to_the_guides(client: FlaskClient) -> None:
    linked = re.findall(r"\]\(([^)]+)\)", client.get("/openapi.json").json["info"]["description"])
    assert "/docs/api" in linked
    assert [address for address in linked if client.get(address).status_code != 200] == []


def test_a_link_to_a_file_that_the_site_does_not_show_is_its_text() -> None:
    told = rendered(
        "# T\n\n[a test](../tests/test_x.py), [*a* seed](../dbt_project/seeds/s.csv) and [b](errors.md#c)\n"
    )
    assert told.body == '<p>a test, <em>a</em> seed and <a href="/docs/errors#c">b</a></p>\n'


def test_a_page_that_goes_by_its_file_has_its_name_on_the_site() -> None:
    told = rendered("# T\n\nsee [routes.md](routes.md), [errors.md](errors.md) and [runbook.md](runbook.md)\n")
    assert told.body == (
        '<p>see <a href="/docs/routes">Routes and scopes</a>, <a href="/docs/errors">Errors</a> and runbook.md</p>\n'
    )


def test_headings_of_the_same_words_have_places_of_their_own() -> None:
    told = rendered("# T\n\n## ad_sets\n\n## More\n\n## ad_sets\n")
    assert [anchor for anchor, _ in told.sections] == ["ad_sets", "more", "ad_sets-1"]


def test_a_page_that_is_no_guide_is_not_found(client: FlaskClient) -> None:
    for name in ("decisions", "runbook", "api.md", "Api", "..%2FREADME"):
        assert client.get(f"/docs/{name}").status_code == 404


def test_a_name_as_code_may_break_between_its_words_and_is_copied_as_it_is() -> None:
    body = rendered("# T\n\n`/api/v1/ads/<ad_id>` and `a_b`, `1/2`, `_x`, `a / b`\n").body
    assert re.findall(r"<code>(.*?)</code>", body) == [
        "/api/<wbr>v1/<wbr>ads/<wbr>&lt;ad_<wbr>id&gt;",
        *("a_<wbr>b", "1/<wbr>2", "_x", "a / b"),
    ]
    assert "".join(re.findall(r">([^<]*)", body)).strip() == "/api/v1/ads/&lt;ad_id&gt; and a_b, 1/2, _x, a / b"
