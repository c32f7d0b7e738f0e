"""What the shop sells: products with variants, and two sizes of the monthly box."""

from __future__ import annotations

from datetime import date, timedelta

from sandbox.clock import epoch
from sandbox.money import Product, Variant

ITEMS = (
    ("Ridgeline 3-layer Shell", "Jackets", 18900, ("S", "M", "L")),
    ("Drizzle Packable Jacket", "Jackets", 9900, ("S", "M", "L")),
    ("Moss Fleece Pullover", "Layers", 7400, ("S", "M", "L")),
    ("Merino Base Layer", "Layers", 6200, ("S", "M")),
    ("Granite Trail Boot", "Footwear", 16400, ("40", "42", "44")),
    ("Creek Approach Shoe", "Footwear", 11800, ("40", "42", "44")),
    ("Tarn 28 L Day Pack", "Packs", 12400, ("Regular", "Tall")),
    ("Col 48 L Pack", "Packs", 19800, ("Regular", "Tall")),
    ("Cairn Trekking Poles", "Gear", 8800, ("Pair",)),
    ("Two-person Bothy Shelter", "Gear", 6900, ("Green", "Orange")),
    ("Wool Hiking Sock, 3 pairs", "Accessories", 3200, ("S", "M", "L")),
    ("Repair Kit", "Accessories", 1850, ("One size",)),
)
BOX_PRICES = {"USD": (3400, 5200), "EUR": (3200, 4900), "GBP": (2800, 4300), "JPY": (5200, 7900)}


def build_products(today: date, days: int) -> tuple[Product, ...]:
    """The catalogue; the last two products are a draft and one archived."""
    created = epoch(today - timedelta(days=days + 200))
    products = []
    for index, (title, kind, price, options) in enumerate(ITEMS):
        number = 8_400_000_000_000 + 1_000 * (index + 1)
        updated = epoch(today - timedelta(days=(index * 7) % days)) + 3_600 * index
        variants = tuple(
            Variant(number + position, option, f"AF-{index + 1:02d}-{option.split()[0].upper()}", price,
                    round(price * 1.2) if index % 4 == 0 else None, (37 * (index + position)) % 60, position)
            for position, option in enumerate(options, 1)
        )  # fmt: skip
        handle = title.lower().replace(",", "").replace(" ", "-")
        status = {len(ITEMS) - 2: "draft", len(ITEMS) - 1: "archived"}.get(index, "active")
        tags = (kind.lower(), "autumn") if index % 2 == 0 else (kind.lower(),)
        products.append(Product(number, title, handle, status, "Alder & Finch", kind, tags, created, updated, variants))
    return tuple(products)
