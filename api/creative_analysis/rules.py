"""The analyser that needs nobody: keyword rules over a creative's own text, its button and its media type.

It works offline and in English and Spanish. It sees no picture and hears no video, so it says nothing where the words
say nothing, and its confidence never reaches 1.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from statistics import fmean

from api.creative_analysis.findings import Creative, Findings
from api.creative_analysis.words import ANGLES, BUTTONS, HOOKS, OFFERED, STOPWORDS, VIDEO_STYLES

NAME = "rules/2"
# a creative that goes on longer has said what it wants; the rest is read by nobody
MOST_TEXT = 4000
OPENING = 160
# how good each kind of sign is held to be: a button and a media type are facts, words are hints
BUTTON, MEDIA, MARK, WORD, GUESS = 0.95, 0.9, 0.8, 0.5, 0.3
FURTHER_WORD, MOST_WORDS = 0.1, 0.7
STILL = {"image": "static", "carousel": "carousel", "collection": "collection"}

Patterns = Mapping[str, re.Pattern[str]]


def _compiled(words: Mapping[str, tuple[str, ...]]) -> Patterns:
    return {name: re.compile(rf"(?<!\w)(?:{'|'.join(found)})(?!\w)") for name, found in words.items()}


_HOOKS, _ANGLES, _OFFERS, _STYLES = (_compiled(one) for one in (HOOKS, ANGLES, OFFERED, VIDEO_STYLES))
_BUTTONS = _compiled({name: texts for name, (_, texts) in BUTTONS.items()})
_STOP = {language: frozenset(words) for language, words in STOPWORDS.items()}
_BY_PLATFORM = {button: name for name, (buttons, _) in BUTTONS.items() for button in buttons}
_NUMBER = re.compile(r"\W{0,3}\d")
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|\n")

Sign = tuple[str | None, float]
NOTHING: Sign = (None, 0.0)


class Rules:
    """The built-in analyser; answers the same for the same creative, always."""

    def analyse(self, creative: Creative) -> Findings:
        """What the words tell; null and a lower confidence where they tell nothing."""
        title, body = _plain(creative.title), _plain(creative.body)
        whole = "\n".join(part for part in (title, body) if part)[:MOST_TEXT]
        signs = (
            _hook(body or title),
            _format(creative.format, whole),
            _button(creative.call_to_action, whole),
            _most_named(_ANGLES, whole),
        )
        hook, style, button, angle = (value for value, _ in signs)
        offers = tuple(name for name, pattern in _OFFERS.items() if pattern.search(whole))
        sure = round(fmean(held for _, held in signs), 4)
        return Findings(hook, style, button, angle, offers, _language(whole), sure, NAME)


def _plain(text: str | None) -> str:
    """Without accents, in lower case and compatible forms; what is invisible is gone, so that it cannot hide words."""
    spread = unicodedata.normalize("NFKD", (text or "")[:MOST_TEXT]).casefold()
    kept = (one for one in spread if unicodedata.category(one) not in {"Mn", "Cf"})
    return "".join("'" if one == "’" else one for one in kept).strip()


def _hook(text: str) -> Sign:
    opening = text[:OPENING]
    first = _SENTENCE_END.search(opening)
    if opening.startswith("¿") or (first and first.group() == "?"):
        return "question", MARK
    sentence = opening[: first.start()] if first else opening
    for name, pattern in _HOOKS.items():
        if pattern.search(sentence):
            return name, WORD
    return ("number", MARK) if _NUMBER.match(opening) else NOTHING


def _format(media: str | None, text: str) -> Sign:
    if media != "video":
        style = STILL.get(media or "")
        return (style, MEDIA) if style else NOTHING
    style, held = _most_named(_STYLES, text)
    return (style, held) if style else ("other_video", GUESS)


def _button(platform: str | None, text: str) -> Sign:
    known = _BY_PLATFORM.get((platform or "").strip().lower())
    return (known, BUTTON) if known else _most_named(_BUTTONS, text)


def _most_named(patterns: Patterns, text: str) -> Sign:
    """What is named by most different words; of those named alike, the first of the catalogue."""
    named = {name: len(set(pattern.findall(text))) for name, pattern in patterns.items()}
    best = max(named, key=lambda name: named[name])
    if not named[best]:
        return NOTHING
    return best, min(WORD + FURTHER_WORD * (named[best] - 1), MOST_WORDS)


def _language(text: str) -> str | None:
    words = re.findall(r"[a-z']+", text)
    counted = {language: sum(word in stop for word in words) for language, stop in _STOP.items()}
    best = max(counted, key=lambda language: counted[language])
    is_clear = sorted(counted.values())[-1] > sorted(counted.values())[-2]
    return best if is_clear else None
