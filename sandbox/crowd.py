"""Who the people are: invented names, addresses under example domains, telephone numbers kept for fiction."""

from __future__ import annotations

from random import Random

from sandbox.people import Person

FIRST = (
    "Ada", "Amir", "Bea", "Carlos", "Chloe", "Dana", "Elif", "Emeka", "Farah", "Gael", "Hana", "Ines", "Ivan", "Jo",
    "Kofi", "Lena", "Luis", "Mara", "Mei", "Nadia", "Noor", "Olga", "Pablo", "Priya", "Quinn", "Rosa", "Sami", "Tess",
    "Tomas", "Uma", "Vera", "Wes", "Yara", "Zoe",
)  # fmt: skip
LAST = (
    "Abbott", "Alonso", "Baker", "Castro", "Dhillon", "Eriksen", "Fuentes", "Garner", "Haddad", "Ibarra", "Jansen",
    "Kimura", "Lopez", "Moreau", "Nwosu", "Okafor", "Paredes", "Quiroga", "Reyes", "Sato", "Tanaka", "Usman", "Vidal",
    "Walsh", "Young", "Zapata",
)  # fmt: skip
AREAS = (
    201, 202, 203, 205, 206, 207, 208, 209, 210, 212, 213, 214, 215, 216, 217, 218, 219, 224, 225, 228, 229, 231, 234,
    239, 240, 248, 251, 252, 253, 254, 256, 260, 262, 267, 269, 270, 276, 281, 301, 302, 303, 304, 305, 307, 308, 309,
    310, 312, 313, 314, 315, 316, 317, 318, 319, 320, 321, 323, 325, 330, 331, 334, 336, 337, 339, 347, 351, 352, 360,
    361, 386, 401, 402, 404, 405, 406, 407, 408, 409, 410, 412, 413, 414, 415, 417, 419, 423, 424, 425, 430, 432, 434,
)  # fmt: skip
MARKETS = (("US", "USD", 58), ("ES", "EUR", 22), ("FR", "EUR", 7), ("GB", "GBP", 9), ("JP", "JPY", 4))
BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def token(random: Random, length: int) -> str:
    """Letters and digits, as platforms make their ids."""
    return "".join(random.choices(BASE62, k=length))


def build_person(random: Random, index: int) -> Person:
    """Person number `index`; no two share an identifier."""
    first, last = random.choice(FIRST), random.choice(LAST)
    country, currency, _ = random.choices(MARKETS, [weight for *_, weight in MARKETS])[0]
    devices = random.choices((1, 2, 3), (62, 29, 9))[0]
    area, line = AREAS[index // 100 % len(AREAS)], index % 100
    exchange = 555 - index // (100 * len(AREAS))
    return Person(
        index=index,
        first_name=first,
        last_name=last,
        email=f"{first}.{last}{index}@example.com".lower(),
        phone=f"+1{area}{exchange}01{line:02d}",
        external_id=f"crm-{10_000 + index}",
        payment_customer_id=f"cus_{token(random, 14)}",
        chat_key=f"chat:{token(random, 12)}",
        anonymous_ids=tuple(f"a_{random.getrandbits(64):016x}" for _ in range(devices)),
        country=country,
        currency=currency,
    )
