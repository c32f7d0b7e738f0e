"""Workspaces that an app provisioned: nobody of theirs gets mail from this deployment."""

from __future__ import annotations

from functools import wraps
from typing import Any, cast

from api import auth, errors
from api.guard import View
from api.models import Workspace

SOURCE = "oauth"


def is_provisioned(workspace: Workspace) -> bool:
    """Whether an app made the workspace for one of its users."""
    return workspace.acquisition_source == SOURCE


def refuse_provisioned(view: View) -> View:
    """403 app_provisioned_workspace before query and body are looked at; stands directly under the guard."""

    @wraps(view)
    def mailed(*args: Any, **kwargs: Any) -> Any:
        if is_provisioned(auth.current().workspace):
            raise errors.APP_PROVISIONED_WORKSPACE()
        return view(*args, **kwargs)

    return cast(View, mailed)
