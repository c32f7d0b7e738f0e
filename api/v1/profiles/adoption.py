"""Adoption: an app that a person let in gets a name of its own for the profile."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.orm import Session

from api import errors
from api.models import App, Delegation, Membership, OAuthAuthorization, Profile, Workspace
from api.oauth import families
from api.roles import Role

MAY_GIVE = (Role.OWNER.word, Role.ADMIN.word)


def adopt(session: Session, app: App, profile_id: str, external_ref: str) -> tuple[Profile, Delegation, bool]:
    """The profile, what now ties the app to it, and whether that is new.

    404 not_found unless the app is tied to it already or an owner or admin lets it in now; 409 already_provisioned
    when another app made it, external_ref_in_use when the app calls another profile so; 403 app_suspended.
    """
    # two adoptions of one app at once must not both take a name
    families.hold_active_app(session, app.id)
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
    # a key of it may be issued meanwhile, by whoever holds a consent that is waited for below
    return session.scalars(chosen.with_for_update(of=Profile, key_share=True)).one_or_none()


def _is_let_in(session: Session, app: App, profile: Profile) -> bool:
    may_give = sa.exists().where(
        Membership.user_id == OAuthAuthorization.user_id,
        Membership.workspace_id == profile.workspace_id,
        Membership.role.in_(MAY_GIVE),
    )
    of_app = OAuthAuthorization.app_id == app.id, OAuthAuthorization.profile_id == profile.id
    # held, so that whoever ends one of them meanwhile finds the adoption that it carried
    return bool(families.hold(session, *of_app, OAuthAuthorization.status == "granted", may_give))
