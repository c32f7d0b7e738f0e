"""What the page of a frozen leaderboard says, in English and Spanish."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    "untitled": ("Top ads", "Mejores anuncios"),
    "skip": ("Skip to the ranking", "Ir a la clasificación"),
    "language": ("Español", "English"),
    "window_7d": ("Last 7 days", "Últimos 7 días"),
    "window_14d": ("Last 14 days", "Últimos 14 días"),
    "window_28d": ("Last 28 days", "Últimos 28 días"),
    "window_lifetime": ("Lifetime", "Toda su vida"),
    "through": ("{0}, through {1}", "{0}, hasta el {1}"),
    "frozen": (
        "Frozen on {0}. These figures do not change any more; this link opens until {1}.",
        "Congelado el {0}. Estas cifras ya no cambian; este enlace se abre hasta el {1}.",
    ),
    "ads_shown": ("Ads shown", "Anuncios mostrados"),
    "settled_ads": ("Settled", "Asentados"),
    "provisional_ads": ("Provisional", "Provisionales"),
    "ranking": ("Ranking", "Clasificación"),
    "place": ("Place", "Puesto"),
    "ad": ("Ad", "Anuncio"),
    "score": ("Score", "Puntuación"),
    "of_100": ("of 100", "de 100"),
    "no_score": ("not scored", "sin puntuar"),
    "result": ("Result", "Resultado"),
    "spend": ("Spend", "Inversión"),
    "roas": ("ROAS", "ROAS"),
    "why": ("Why it ranks so", "Por qué ocupa este puesto"),
    "no_reason": ("No layer stands out", "Ninguna capa destaca"),
    "nameless": ("Ad {0}", "Anuncio {0}"),
    "in_campaign": ("in", "en"),
    "stage_cold": ("Too little data", "Faltan datos"),
    "stage_early": ("Early", "Incipiente"),
    "stage_mature": ("Settled", "Asentado"),
    "stage_calibrated": ("Well settled", "Muy asentado"),
    "provisional": ("Provisional", "Provisional"),
    "provisional_note": (
        "{0} of these ads are provisional: their place may still move a lot, so do not act on it yet.",
        "{0} de estos anuncios son provisionales: su puesto aún puede cambiar mucho; no actúes todavía según él.",
    ),
    "provisional_note_1": (
        "One of these ads is provisional: its place may still move a lot, so do not act on it yet.",
        "Uno de estos anuncios es provisional: su puesto aún puede cambiar mucho; no actúes todavía según él.",
    ),
    "grade_predicted": ("Predicted", "Previsto"),
    "grade_attributed": ("Attributed", "Atribuido"),
    "grade_lift": ("Proven by experiment", "Probado con un experimento"),
    "payments": ("{0} payments", "{0} pagos"),
    "payments_1": ("1 payment", "1 pago"),
    "pipeline": ("{0} leads and deals", "{0} oportunidades"),
    "pipeline_1": ("1 lead or deal", "1 oportunidad"),
    "conversations": ("{0} conversations", "{0} conversaciones"),
    "conversations_1": ("1 conversation", "1 conversación"),
    "claimed": ("{0} conversions", "{0} conversiones"),
    "claimed_1": ("1 conversion", "1 conversión"),
    "cash_note": ("{0} attributed", "{0} atribuidos"),
    "pipeline_note": ("{0} projected, not cash", "{0} previstos, no cobrados"),
    "conversations_note": ("{0} each", "{0} cada una"),
    "claimed_note": ("claimed by the platform", "según la plataforma"),
    "no_outcome": ("None attributed yet", "Ninguno atribuido aún"),
    "strength": ("Strength", "Fortaleza"),
    "weakness": ("Weakness", "Debilidad"),
    "confidence_low": ("low confidence", "confianza baja"),
    "confidence_medium": ("medium confidence", "confianza media"),
    "confidence_high": ("high confidence", "confianza alta"),
    "percentile": ("percentile {0}", "percentil {0}"),
    "layer_delivery": ("Delivery", "Entrega"),
    "layer_attention": ("Attention", "Atención"),
    "layer_retention": ("Retention", "Retención"),
    "layer_engagement": ("Engagement", "Interacción"),
    "layer_click_intent": ("Click intent", "Intención de clic"),
    "layer_postclick_messaging": ("Conversations", "Conversaciones"),
    "layer_reply_quality": ("Replies", "Respuestas"),
    "layer_platform_conversions": ("Platform’s conversions", "Conversiones de la plataforma"),
    "layer_attributed_pipeline": ("Attributed pipeline", "Oportunidades atribuidas"),
    "layer_attributed_revenue": ("Attributed revenue", "Ingresos atribuidos"),
    "chance": ("Chance of leading next: {0}", "Probabilidad de liderar después: {0}"),
    "wear_low": ("Low risk of wear", "Riesgo bajo de desgaste"),
    "wear_medium": ("Medium risk of wear", "Riesgo medio de desgaste"),
    "wear_high": ("High risk of wear", "Riesgo alto de desgaste"),
    "wear_critical": ("Very high risk of wear", "Riesgo muy alto de desgaste"),
    "measures": ("What the measures mean", "Qué significan las medidas"),
    "about_score": (
        "The place that the ad can be expected to have among comparable ads: same platform, format, objective,"
        " audience, country and placement. 50 is the middle. With little data an ad stays near the middle, however"
        " lucky it was. Each business is scored on its own.",
        "El puesto que cabe esperar del anuncio entre anuncios comparables: misma plataforma, formato, objetivo,"
        " público, país y ubicación. 50 es la mitad. Con pocos datos un anuncio queda cerca de la mitad, por mucha"
        " suerte que tuviera. Cada negocio se puntúa por separado.",
    ),
    "about_stage": (
        "How much data stands behind the score. Act on settled ads; a provisional place may still move a lot.",
        "Cuántos datos respaldan la puntuación. Actúa según los asentados; un puesto provisional aún puede cambiar.",
    ),
    "about_result": (
        "The outcome to look at first. Attributed ones were credited to the ad by its last touch. What the platform"
        " claims is its own count and is never added to them.",
        "El resultado que mirar primero. Los atribuidos se acreditaron al anuncio por su último contacto. Lo que afirma"
        " la plataforma es su propia cuenta y nunca se suma a ellos.",
    ),
    "about_roas": (
        "Attributed revenue for each unit of money spent; a dash where nothing was spent.",
        "Ingresos atribuidos por cada unidad de dinero invertida; un guion donde no se invirtió nada.",
    ),
    "about_why": (
        "The stages of the funnel in which the ad stands out, as a percentile among comparable ads.",
        "Las etapas del embudo en las que destaca el anuncio, como percentil entre anuncios comparables.",
    ),
    "about_grade": (
        "What the evidence is: predicted rests on signals such as clicks, attributed on at least one credited outcome,"
        " proven on an experiment.",
        "Cuál es la prueba: previsto se apoya en señales como los clics, atribuido en al menos un resultado acreditado,"
        " probado en un experimento.",
    ),
    "evidence": ("Evidence", "Prueba"),
    "stage": ("Data", "Datos"),
    "about_chance": (
        "Chances and risks are shown only where a model has proven its skill on data that it had not seen. Without one"
        " the ad is not evaluated, which is not a zero.",
        "Las probabilidades y riesgos solo se muestran donde un modelo ha demostrado acertar con datos que no había"
        " visto. Sin ello el anuncio está sin evaluar, que no es un cero.",
    ),
    "chances": ("Chance and wear", "Probabilidad y desgaste"),
    "money_hidden": (
        "Figures of money were left out of this page on purpose.",
        "Las cifras de dinero se omitieron a propósito en esta página.",
    ),
    "money_in": ("Money is in {0}.", "El dinero está en {0}."),
    "made_with": ("Made with Touchledger", "Hecho con Touchledger"),
    "gone": ("This link does not open anything", "Este enlace no abre nada"),
    "gone_text": (
        "It may have expired or been taken back, or it is not complete. Ask whoever sent it for a new one.",
        "Puede haber caducado o haberse retirado, o no está completo. Pide uno nuevo a quien te lo envió.",
    ),
    "too_often": ("That was opened too often", "Se ha abierto demasiadas veces"),
    "too_often_text": ("Wait a minute, then open it again.", "Espera un minuto y vuelve a abrirlo."),
}
