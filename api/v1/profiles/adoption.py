"""Adoption: an app that a person let in gets a name of its own for the profile."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import errors
from api.models import App, Delegation, Membership, OAuthAuthorization, Profile, Workspace
from api.roles import Role

MAY_GIVE = (Role.OWNER.word, Role.ADMIN.word)


def adopt(session: Session, app: App, profile_id: str, external_ref: str) -> tuple[Profile, Delegation, bool]:
    """The profile, what now ties the app to it, and whether that is new.

    404 not_found unless the app is tied to it already or an owner or admin lets it in now; 409 already_provisioned
    when another app made it, external_ref_in_use when the app calls another profile so.
    """
    # two adoptions of one app at once must not both take a name
    session.execute(sa.select(App.id).where(App.id == app.id).with_for_update())
    tie = session.scalars(
        sa.select(Delegation).where(Delegation.app_id == app.id, Delegation.profile_id == profile_id)
    ).one_or_none()  # fmt: skip
    profile = _live(session, profile_id)
    if profile is None or (tie is None and not _is_let_in(session, app, profile)):
        raise errors.NOT_FOUND()
    if tie is not None:
        return profile, tie, False
    if profile.provisioned_by_app_id not in {None, app.id}:
        raise errors.INVALID_STATE("Another app provisioned this profile.", reason="already_provisioned")
    named = sa.select(Delegation.id).where(Delegation.app_id == app.id, Delegation.external_ref == external_ref)
    if session.scalar(named) is not None:
        raise errors.INVALID_STATE("The app calls another profile so.", reason="external_ref_in_use")
    made = Delegation(app_id=app.id, profile_id=profile.id, external_ref=external_ref, kind="adopted")
    session.add(made)
    session.flush()
    return profile, made, True


def _live(session: Session, profile_id: str) -> Profile | None:
    chosen = (
        sa.select(Profile)
        .join(Workspace, Workspace.id == Profile.workspace_id)
        .where(Profile.id == profile_id, Profile.archived_at.is_(None), Workspace.archived_at.is_(None))
    )
    return session.scalars(chosen.with_for_update(of=Profile)).one_or_none()


def _is_let_in(session: Session, app: App, profile: Profile) -> bool:
    given = (
        sa.select(OAuthAuthorization.id)
        .join(Membership, Membership.user_id == OAuthAuthorization.user_id)
        .where(
            OAuthAuthorization.app_id == app.id,
            OAuthAuthorization.profile_id == profile.id,
            OAuthAuthorization.status == "granted",
            Membership.workspace_id == profile.workspace_id,
            Membership.role.in_(MAY_GIVE),
        )
    )
    return session.scalar(given.limit(1)) is not None
