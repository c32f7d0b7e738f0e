"""The words that the keyword rules look for: regular expressions over text without accents, in lower case.

Nothing in them repeats without bound, so no text makes a search slow.
"""

from __future__ import annotations

_PERCENT = r"\d{1,3} ?%"
_SUM = r"\d{1,6}(?:[.,]\d{2,3}){0,2}"
_MONEY = rf"(?:[$€£] ?{_SUM}|{_SUM} ?(?:[$€£]|usd|eur|euros|dollars|dolares|pesos))"

HOOKS: dict[str, tuple[str, ...]] = {
    "offer": (
        rf"{_PERCENT} (?:off|de descuento|dto)", rf"save (?:up to )?(?:{_PERCENT}|{_MONEY})", rf"(?:hasta )?{_PERCENT}",
        "free", "gratis", "sale", "rebajas", "oferta", "descuento", rf"ahorra (?:hasta )?(?:{_PERCENT}|{_MONEY})",
    ),
    "urgency": (
        "last chance", "ends (?:today|tonight|soon|sunday|tomorrow)", "only today", "hurry", "final hours", "act now",
        "ultima oportunidad", "ultimos dias", "ultimas (?:horas|plazas|unidades)", "solo hoy", "termina hoy", "corre",
    ),
    "how_to": (
        "how to", "here is how", "here's how", "step by step", "learn how", r"\d{1,2} (?:ways|steps|tips)",
        r"\Acomo", "asi (?:se|puedes)", "paso a paso", "aprende a", r"\d{1,2} (?:formas|pasos|consejos|trucos)",
    ),
    "testimonial": (
        "i (?:tried|was|never|finally|love|used|bought|lost|have)", "my (?:skin|husband|wife|kids|dog|life|honest)",
        "review", "(?:lo )?(?:probe|compre)", "me (?:encanta|cambio|ha cambiado)", "mi (?:piel|vida|marido|perro)",
        "opiniones",
    ),
    "problem": (
        "tired of", "sick of", "struggling", "stop", "no more", "pain", "stressed", "fed up", "hate",
        "cansad[oa] de", "hart[oa] de", "basta de", "dolor", "problemas? (?:con|de)", "estres", "odias",
    ),
    "curiosity": (
        "secret", "nobody tells you", "you won't believe", "what happens", "the truth about", "the reason",
        "most people",
        "secreto", "nadie te (?:cuenta|dice)", "no vas a creer", "la verdad sobre", "lo que no sabes", "esto es lo que",
    ),
}  # fmt: skip

VIDEO_STYLES: dict[str, tuple[str, ...]] = {
    "ugc_video": (
        "unboxing", "honest review", "i tried", "my routine", "get ready with me", "grwm", "haul", "first impressions",
        "probando", "mi rutina", "resena", "lo probe", "mi experiencia",
    ),
    "talking_head": (
        "our founder", "the founder", "explains", "tells you", "listen to", "interview", "an expert", "i'm dr",
        "i am dr",
        "nuestr[oa] fundador[a]?", "te explica", "te cuenta", "entrevista", "soy (?:el|la) (?:doctor|doctora)",
    ),
    "product_demo": (
        "watch how", "see how", "see it in action", "how it works", "in seconds", "demo", "tutorial", "watch it",
        "mira como", "asi funciona", "como funciona", "en accion", "demostracion",
    ),
}  # fmt: skip

# by our name: the platforms' names of the button, and words of a text that ask for the same
BUTTONS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "shop_now": (
        ("shop_now", "buy_now", "order_now", "buy", "shop", "view_shop", "add_to_cart", "see_menu", "get_showtimes"),
        ("shop now", "buy now", "order now", "order yours", "compra ahora", "compra ya", "pide (?:el tuyo|ya|ahora)"),
    ),
    "learn_more": (
        ("learn_more", "see_more", "read_more", "visit_site", "view_details", "see_details"),
        ("learn more", "find out more", "read more", "mas informacion", "descubre mas", "saber mas", "conoce mas"),
    ),
    "sign_up": (
        ("sign_up", "subscribe", "register", "register_now", "join_now", "sign_up_now", "event_rsvp", "get_started"),
        ("sign up", "join (?:now|us)", "subscribe", "register", "registrate", "unete", "suscribete", "apuntate"),
    ),
    "book_now": (
        ("book_now", "book_travel", "book_test_drive", "reserve", "schedule_now", "book_appointment"),
        ("book (?:now|your|a|an)", "reserve your", "schedule (?:now|your|a)", "reserva", "pide (?:tu )?cita", "agenda"),
    ),
    "send_message": (
        ("message_page", "whatsapp_message", "send_message", "instagram_message", "message_us", "send_dm", "chat_now"),
        ("message us", "send us a message", "chat with us", "whatsapp", "dm us", "escribenos", "mandanos un mensaje"),
    ),
    "call_now": (
        ("call_now", "call", "call_me"),
        ("call (?:now|us|today)", "llamanos", "llama (?:ya|ahora|hoy)"),
    ),
    "get_quote": (
        ("get_quote", "request_quote", "get_a_quote"),
        (
            "(?:get|request|ask for) (?:a|your) (?:free )?quote", "pide (?:tu )?presupuesto",
            "solicita (?:tu )?presupuesto",
        ),
    ),
    "get_offer": (
        ("get_offer", "get_offer_view", "claim_offer", "get_coupon", "get_promotions"),
        ("claim (?:your|the)", "use (?:the )?code", "get your discount", "usa el codigo", "consigue tu descuento"),
    ),
    "download": (
        (
            "download", "install_now", "install_mobile_app", "install_app", "use_app", "open_link", "play_game",
            "get_app",
        ),
        ("download", "install", "get the app", "descarga", "instala"),
    ),
    "apply_now": (("apply_now", "apply"), ("apply now", "apply today", "solicita ahora", "inscribete")),
    "contact_us": (("contact_us", "contact"), ("contact us", "get in touch", "contactanos", "contacta con")),
    "watch_more": (
        ("watch_more", "watch_video", "watch_now", "listen_now", "listen_music"),
        ("watch (?:now|more|the)", "listen now", "mira el video", "ver mas"),
    ),
}  # fmt: skip

ANGLES: dict[str, tuple[str, ...]] = {
    "price": (
        rf"{_PERCENT} off", "cheap(?:er|est)?", "affordable", "save", "discount", "sale", "low(?:est)? prices?", "deal",
        "descuento", "barat[oa]s?", "economic[oa]s?", "ahorra", "rebajas?", "oferta", "mejor precio", "precios? bajos?",
    ),
    "social_proof": (
        r"\d[\d.,]{0,9}\+? (?:happy )?(?:customers|reviews|people|families|clients)",
        r"\d[\d.,]{0,9}\+? (?:clientes|personas|familias|opiniones)",
        "best[ -]?seller", "loved by", "rated", "5 stars?", "everyone is", "join thousands", "viral", "testimonials?",
        "mas vendid[oa]s?", "5 estrellas", "miles de (?:personas|clientes|familias)",
        "recomendad[oa] por (?:miles|clientes)",
    ),
    "authority": (
        "doctors?", "dentists?", "dermatologists?", "experts?", "clinically (?:proven|tested)", "award[ -]winning",
        "certified",
        "scientifically", "doctor(?:a|es)?", "dentistas?", "dermatolog[oa]s?", "expert[oa]s", "clinicamente",
        "certificad[oa]s?",
        "premiad[oa]s?",
    ),
    "problem_solution": (
        "tired of", "sick of", "struggling", "say goodbye to", "no more", "get rid of", "relief", "fix", "solution",
        "stop",
        "cansad[oa] de", "hart[oa] de", "di adios a", "adios a", "alivio", "elimina", "solucion", "soluciona",
        "basta de",
    ),
    "transformation": (
        "before and after", "transform(?:s|ed|ation)?", "results in", "change your", r"in \d{1,2} (?:days|weeks)",
        "new you",
        "antes y despues", "transforma(?:cion)?", "resultados en", "cambia tu", r"en \d{1,2} (?:dias|semanas)",
    ),
    "convenience": (
        "easy", "easily", "in minutes", "in seconds", "effortless", "save time", "delivered to", "at home",
        "hassle[ -]free",
        "simple", "facil(?:mente)?", "en minutos", "en segundos", "sin esfuerzo", "ahorra tiempo", "a domicilio",
        "en casa",
        "sin complicaciones",
    ),
    "quality": (
        "handmade", "handcrafted", "premium", "durable", "built to last", "high quality", "finest", "luxury",
        "craftsmanship",
        "hecho a mano", "artesanal(?:es)?", "duradero", "alta calidad", "calidad", "lujo", "de primera",
    ),
    "scarcity": (
        "last chance", "limited (?:edition|stock|time)", "almost gone", "selling out", "while stocks? lasts?",
        "only \\d{1,3} left",
        "ends (?:today|tonight|soon)", "ultima oportunidad", "edicion limitada", "hasta agotar existencias",
        "ultimas (?:plazas|unidades)",
        "solo quedan", "solo hoy",
    ),
    "risk_reversal": (
        "money[ -]back", "guaranteed?", "risk[ -]free", "free returns", "cancel any ?time", "try it free",
        "no commitment",
        "garantia", "garantizad[oa]s?", "sin riesgo", "devolucion(?:es)? gratis", "cancela cuando quieras",
        "sin compromiso",
    ),
    "novelty": (
        "new", "introducing", "just (?:dropped|launched|landed)", "finally here", "first ever", "meet the",
        "nuev[oa]s?", "presentamos", "recien llegad[oa]s?", "ya esta aqui", "por primera vez", "novedad(?:es)?",
    ),
    "sustainability": (
        "sustainable", "eco[ -]friendly", "recycled", "plastic[ -]free", "organic", "vegan", "planet",
        "cruelty[ -]free",
        "sostenibles?", "ecologic[oa]s?", "reciclad[oa]s?", "sin plastico", "organic[oa]s?", "vegan[oa]s?", "planeta",
    ),
    "occasion": (
        "black friday", "cyber monday", "christmas", "mother'?s day", "father'?s day", "valentine'?s?", "summer",
        "gift",
        "navidad", "dia de la madre", "dia del padre", "san valentin", "verano", "regalo", "reyes", "buen fin",
    ),
}  # fmt: skip

OFFERED: dict[str, tuple[str, ...]] = {
    "percent_off": (
        rf"{_PERCENT} (?:off|discount|de descuento|dto|menos)",
        rf"(?:save|ahorra) (?:up to |hasta )?(?:un )?{_PERCENT}",
    ),
    "amount_off": (rf"{_MONEY} (?:off|de descuento|menos)", rf"(?:save|ahorra) (?:up to |hasta )?{_MONEY}"),
    "free_shipping": ("free (?:shipping|delivery)", "(?:envio|entrega) (?:gratis|gratuit[oa])", "ships free"),
    "free_trial": (
        r"free (?:\d{1,3}[- ]day )?trial", "try (?:it )?(?:for )?free", "prueba (?:gratis|gratuita)",
        r"\d{1,3} dias gratis",
    ),
    "free_gift": ("free gift", "gift with (?:every|your|any)", "regalo (?:gratis|con tu|por tu)", "de regalo"),
    "buy_one_get_one": ("buy (?:one|1|two|2),? get (?:one|1)(?: free)?", "bogo", "2 ?[x×] ?1", "3 ?[x×] ?2", "2 for 1"),
    "bundle": ("bundle", "value pack", "set of \\d", "pack (?:de|ahorro)", "lote de"),
    "free_consultation": (
        "free (?:consultation|quote|estimate|assessment|first visit|audit)",
        "(?:consulta|visita|valoracion) (?:gratis|gratuita)",
        "presupuesto (?:gratis|sin compromiso|gratuito)", "primera (?:consulta|visita) gratis",
    ),
    "first_order": ("first (?:order|purchase)", "new customers", "primer(?:a)? (?:pedido|compra)", "nuevos clientes"),
    "money_back": ("money[ -]back", "full refund", "te devolvemos (?:el|tu) dinero", "devolucion del dinero"),
    "financing": (
        "financing", r"0 ?% apr", "pay (?:monthly|later|in \\d)", "instal?lments", "financiacion", "sin intereses",
        "a plazos",
        r"\d{1,2} (?:cuotas|meses sin)",
    ),
    "limited_time": (
        "limited time", "ends (?:today|tonight|soon|sunday|tomorrow)", "today only", "only today",
        "this week(?:end)? only",
        "tiempo limitado", "solo hoy", "termina (?:hoy|manana|pronto)",
        "solo (?:este|hasta el) (?:finde|fin de semana|domingo)",
    ),
}  # fmt: skip

STOPWORDS: dict[str, tuple[str, ...]] = {
    "en": (
        "the", "and", "you", "your", "for", "with", "is", "are", "of", "to", "in", "our", "we", "it", "this", "that",
        "on",
        "get", "now", "from", "at", "be", "how", "what", "my", "i", "off", "free", "new", "by", "all", "more", "can",
        "will",
    ),
    "es": (
        "el", "la", "los", "las", "y", "tu", "tus", "para", "con", "es", "son", "de", "del", "en", "un", "una",
        "que", "por",
        "nuestro", "nuestra", "te", "se", "al", "lo", "mas", "como", "ya", "hoy", "sin", "gratis", "nuevo", "mi",
        "su", "ahora",
    ),
}  # fmt: skip
