"""Visitors that are programs and say so: crawlers, link previews, HTTP libraries and browsers without a window.

Only what a program tells of itself is recognised, by the names its operator documents for it; docs/collector.md lists
them. Who pretends to be a person's browser passes.
"""

from __future__ import annotations

import re

CRAWLERS = (
    *("googlebot", "adsbot-google", "mediapartners-google", "google-inspectiontool", "bingbot", "bingpreview"),
    *("googleother", "apis-google", "google-safety", "yandex.com/bots", "tiktokspider"),
    *("claude-user", "perplexity-user"),
    *("duckduckbot", "baiduspider", "yandexbot", "applebot", "petalbot", "bytespider", "amazonbot", "ccbot"),
    *("gptbot", "oai-searchbot", "chatgpt-user", "claudebot", "perplexitybot", "ahrefsbot", "semrushbot", "mj12bot"),
)
PREVIEWS = (
    *("facebookexternalhit", "facebookcatalog", "meta-externalagent", "meta-externalfetcher", "meta-webindexer"),
    *("twitterbot", "linkedinbot", "slackbot", "discordbot"),
    *("telegrambot", "pinterestbot", "skypeuripreview"),
)
LIBRARIES = (
    *("curl/", "wget/", "python-requests/", "python-urllib/", "python-httpx/", "aiohttp/", "scrapy/", "node-fetch"),
    *("axios/", "go-http-client/", "java/", "apache-httpclient/", "okhttp/", "libwww-perl/", "ruby", "postmanruntime/"),
)
WINDOWLESS = ("headlesschrome", "phantomjs", "htmlunit", "jsdom", "lighthouse")

_NAMED = re.compile("|".join(re.escape(name) for name in (*CRAWLERS, *PREVIEWS, *WINDOWLESS)))
# a library names itself first; inside a browser's own text the same letters may mean something else
_LIBRARY = re.compile("|".join(re.escape(name) for name in LIBRARIES))
# the word that crawlers without fame call themselves by; Cubot makes telephones
_WORD = re.compile(r"(?<!cu)bot\b|\b(?:crawler|spider)\b")


def is_automated(agent: str, brands: str = "") -> bool:
    """Whether a User-Agent (and the brands of Sec-CH-UA) names a program instead of a person's browser.

    A browser always names itself, so an empty User-Agent is a program's.
    """
    told = agent.strip().lower()
    if not told or _LIBRARY.match(told) or "headless" in brands.lower():
        return True
    return bool(_NAMED.search(told) or _WORD.search(told))
