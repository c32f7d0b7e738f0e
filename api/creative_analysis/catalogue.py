"""Words for what a creative does: the one list that analysers answer in and docs/creatives.md is checked against."""

from __future__ import annotations

from collections.abc import Mapping

HOOK_TYPES: Mapping[str, str] = {
    "question": "Opens with a question.",
    "number": "Opens with a figure.",
    "offer": "Opens with what one gets or saves.",
    "problem": "Opens with something that annoys or hurts.",
    "testimonial": "Opens in the words of a customer.",
    "how_to": "Opens by saying how something is done.",
    "urgency": "Opens with a deadline or with little being left.",
    "curiosity": "Opens with something held back.",
}
CREATIVE_FORMATS: Mapping[str, str] = {
    "ugc_video": "A video as a customer would film it.",
    "talking_head": "A video of somebody speaking to the viewer.",
    "product_demo": "A video of the thing being used.",
    "other_video": "A video whose style its text does not tell.",
    "static": "One picture.",
    "carousel": "Several pictures side by side.",
    "collection": "A catalogue under one picture.",
}
CTA_TYPES: Mapping[str, str] = {
    "shop_now": "Buy, order, see the shop.",
    "learn_more": "Read on.",
    "sign_up": "Register or subscribe.",
    "book_now": "Take an appointment or a place.",
    "send_message": "Begin a conversation.",
    "call_now": "Telephone.",
    "get_quote": "Ask for a price.",
    "get_offer": "Take a discount or a voucher.",
    "download": "Load an app or a file.",
    "apply_now": "Apply.",
    "contact_us": "Get in touch, however.",
    "watch_more": "See the rest.",
}
PRIMARY_ANGLES: Mapping[str, str] = {
    "price": "It costs little, or less.",
    "social_proof": "Others are content with it.",
    "authority": "Those who know recommend it.",
    "problem_solution": "It ends a trouble.",
    "transformation": "Before and after.",
    "convenience": "It saves time or effort.",
    "quality": "It is well made and lasts.",
    "scarcity": "Soon it is gone.",
    "risk_reversal": "Nothing is lost by trying it.",
    "novelty": "It is new.",
    "sustainability": "It spares the environment.",
    "occasion": "It fits a feast or a season.",
}
OFFERS: Mapping[str, str] = {
    "percent_off": "A share of the price off.",
    "amount_off": "A sum off.",
    "free_shipping": "Delivery without charge.",
    "free_trial": "A time without charge.",
    "free_gift": "Something on top.",
    "buy_one_get_one": "A second one free or cheaper.",
    "bundle": "Several together for less.",
    "free_consultation": "A first talk, visit or quote without charge.",
    "first_order": "For new customers only.",
    "money_back": "The money back if it does not please.",
    "financing": "Payment in instalments.",
    "limited_time": "Until a day that is named, or soon.",
}
LANGUAGES = ("en", "es")

ATTRIBUTES: Mapping[str, Mapping[str, str]] = {
    "hook_type": HOOK_TYPES,
    "creative_format": CREATIVE_FORMATS,
    "cta_type": CTA_TYPES,
    "primary_angle": PRIMARY_ANGLES,
}
