"""What gunicorn serves: `gunicorn api.wsgi:app`, with the settings of the environment."""

from __future__ import annotations

from api import logs
from api.app import create_app
from touchledger import settings

configured = settings.load()
logs.configure(configured.log_level)
app = create_app(configured)
