"""What reports say, in English and Spanish, and how they write numbers and dates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_EVEN, Decimal

ABSENT = "–"

TEXTS: dict[str, tuple[str, str]] = {
    "performance_summary": ("Performance summary", "Resumen de rendimiento"),
    "creative_review": ("Creative review", "Revisión de creatividades"),
    "pacing": ("Budget pacing", "Ritmo del presupuesto"),
    "spend": ("Spend", "Inversión"),
    "revenue": ("Attributed revenue", "Ingresos atribuidos"),
    "cash_revenue": ("All revenue", "Ingresos totales"),
    "roas": ("ROAS", "ROAS"),
    "cac": ("CAC", "CAC"),
    "outcomes": ("Conversions", "Conversiones"),
    "coverage_percent": ("Attributed share", "Parte atribuida"),
    "per_day": ("Spend and attributed revenue per day", "Inversión e ingresos atribuidos por día"),
    "campaigns": ("Campaigns", "Campañas"),
    "campaign": ("Campaign", "Campaña"),
    "ads": ("Ads", "Anuncios"),
    "ad": ("Ad", "Anuncio"),
    "ad_set": ("Ad set", "Conjunto de anuncios"),
    "payments": ("Payments", "Pagos"),
    "impressions": ("Impressions", "Impresiones"),
    "ctr": ("CTR", "CTR"),
    "best_ads": ("Best ads by attributed revenue", "Mejores anuncios por ingresos atribuidos"),
    "where_credit_went": ("Where conversions came from", "De dónde vinieron las conversiones"),
    "source": ("Source", "Origen"),
    "share": ("Share", "Parte"),
    "attributed": ("Credited to a campaign", "Atribuidas a una campaña"),
    "paid_without_ad": ("Paid click that named no ad", "Clic de pago sin anuncio"),
    "unknown_ad": ("Ad we do not know", "Anuncio desconocido"),
    "parent_only": ("Known only by a higher level", "Solo se conoce el nivel superior"),
    "other_channel": ("Channels nobody paid for", "Canales no pagados"),
    "direct": ("Direct visits", "Visitas directas"),
    "no_touch": ("No visit known", "Sin visita conocida"),
    "budget": ("Monthly budget", "Presupuesto mensual"),
    "spent": ("Spent this month", "Invertido este mes"),
    "expected": ("Even pace until then", "Ritmo uniforme hasta entonces"),
    "projected": ("Month at this pace", "Mes a este ritmo"),
    "cumulative": ("Spend of the month, added up", "Inversión acumulada del mes"),
    "day": ("Day", "Día"),
    "day_by_day": ("Day by day", "Día a día"),
    "no_budget": ("No monthly budget is set.", "No hay presupuesto mensual definido."),
    "foreign_budget": (
        "The monthly budget is in another currency than these figures; it is left out until they follow.",
        "El presupuesto mensual está en otra moneda que estas cifras; se omite hasta que se recalculen.",
    ),
    "no_rows": ("Nothing ran in this window.", "No hubo actividad en este periodo."),
    "compared": ("Changes are against {0}.", "Los cambios son respecto a {0}."),
    "shown": ("The best {0} of {1} are shown.", "Se muestran los {0} mejores de {1}."),
    "model": (
        "Attributed figures follow the model last touch; figures of different models are never added.",
        "Las cifras atribuidas siguen el modelo de último contacto; las de modelos distintos nunca se suman.",
    ),
    "delivery_through": ("Ad delivery is complete through {0}.", "La entrega de anuncios está completa hasta {0}."),
    "score": ("Score", "Puntuación"),
    "scores": (
        "Scores, 0 to 100, are the expected place among comparable ads over the 28 days through {0}; 50 is the middle.",
        "Las puntuaciones, de 0 a 100, son el puesto esperado entre anuncios comparables en los 28 días hasta el {0};"
        " 50 es la mitad.",
    ),
    "provisional": (
        "* Provisional: too little data to act on.",
        "* Provisional: faltan datos para actuar.",
    ),
    "numbered": (
        "In the chart, # and a number stand for the row of an ad whose name it has no letters for.",
        "En el gráfico, # y un número indican la fila de un anuncio cuyo nombre no puede escribir.",
    ),
    "page": ("Page", "Página"),
    "of": ("of", "de"),
    "subject": ("{0}: {1}, {2}", "{0}: {1}, {2}"),
    "mail": (
        "Attached is the report “{0}” of {1} for {2}.",
        "Adjuntamos el informe «{0}» de {1} del periodo {2}.",
    ),
}
MONTHS = {
    "en": ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
    "es": ("ene", "feb", "mar", "abr", "may", "jun", "jul", "ago", "sep", "oct", "nov", "dic"),
}
# in Spanish a billion is a million millions, so what is a billion in English is told in millions
UNITS: Mapping[str, Sequence[tuple[float, str]]] = {
    "en": ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")),
    "es": ((1e6, "M"), (1e3, "k")),
}


class Words:
    """Texts, numbers and dates of one language; `texts` are those of reports unless others are given."""

    def __init__(self, locale: str, texts: Mapping[str, tuple[str, str]] = TEXTS) -> None:
        self.locale = locale
        self.texts = texts

    def __call__(self, name: str, *parts: str) -> str:
        """The text of that name, with its parts filled in."""
        return self.texts[name][0 if self.locale == "en" else 1].format(*parts)

    def number(self, value: float | int | None, digits: int = 0, *, unit: str = "") -> str:
        """A number with `digits` decimals, grouped; a dash for one that is not defined."""
        if value is None:
            return ABSENT
        rounded = Decimal(str(value)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_EVEN)
        # a sum that rounds to nothing has no sign
        text = f"{rounded if rounded else abs(rounded):,.{digits}f}"
        return f"{self.point(text)}{unit}".replace("-", "−")

    def short(self, value: float) -> str:
        """An amount on an axis, which holds few digits: `1.25M`; below a thousand as it is."""
        for size, unit in UNITS[self.locale]:
            if abs(value) >= size:
                of_it = value / size
                written = self.point(f"{of_it:.3g}").replace("-", "−") if abs(of_it) < 999.5 else self.number(of_it)
                return f"{written}{unit}"
        if value == round(value):
            return self.number(value)
        # what is small stands as far as its own digits: 0.025, and not 0.02
        return self.number(value, max(2, -int(Decimal(f"{value:.3g}").as_tuple().exponent)))

    def point(self, text: str) -> str:
        """A number's text with the marks of the language."""
        return text.translate(str.maketrans(",.", ".,")) if self.locale == "es" else text

    def day(self, day: date) -> str:
        """A date as people write it."""
        return f"{self.short_day(day)}, {day.year}" if self.locale == "en" else f"{self.short_day(day)} {day.year}"

    def short_day(self, day: date) -> str:
        """The same without its year."""
        month = MONTHS[self.locale][day.month - 1]
        return f"{month} {day.day}" if self.locale == "en" else f"{day.day} {month}"

    def moment(self, at: datetime) -> str:
        """An instant to the minute, in UTC."""
        utc = at.astimezone(UTC)
        return f"{self.day(utc.date())}, {utc:%H:%M} UTC"

    def window(self, first: date, last: date) -> str:
        """A window as people write it."""
        return self.day(first) if first == last else f"{self.day(first)} – {self.day(last)}"
