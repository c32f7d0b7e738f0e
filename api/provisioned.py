"""The refusal of routes that write mail, in workspaces that an app provisioned."""

from __future__ import annotations

from functools import wraps
from typing import Any, cast

from api import auth, errors
from api.guard import View


def refuse_provisioned(view: View) -> View:
    """403 app_provisioned_workspace before query and body are looked at; stands directly under the guard."""

    @wraps(view)
    def mailed(*args: Any, **kwargs: Any) -> Any:
        if auth.current().workspace.is_provisioned:
            raise errors.APP_PROVISIONED_WORKSPACE()
        return view(*args, **kwargs)

    return cast(View, mailed)
