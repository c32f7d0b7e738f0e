"""people and workspaces."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from api.db import UtcDateTime

revision = '5a21fe965ce1'
down_revision = 'c8d2f0a71b36'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('users',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('email', sa.String(length=254), nullable=False),
    sa.Column('email_verified_at', UtcDateTime(), nullable=True),
    sa.Column('password_hash', sa.String(length=255), nullable=True),
    sa.Column('first_name', sa.String(length=80), nullable=True),
    sa.Column('last_name', sa.String(length=80), nullable=True),
    sa.Column('locale', sa.String(length=2), server_default='en', nullable=False),
    sa.Column('created_at', UtcDateTime(), nullable=False),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_users')),
    sa.UniqueConstraint('email', name=op.f('uq_users_email'))
    )
    op.create_table('memberships',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('workspace_id', sa.String(length=36), nullable=False),
    sa.Column('user_id', sa.String(length=36), nullable=False),
    sa.Column('role', sa.String(length=8), nullable=False),
    sa.Column('permissions', sa.JSON(), nullable=False),
    sa.Column('created_at', UtcDateTime(), nullable=False),
    sa.Column('last_seen_at', UtcDateTime(), nullable=True),
    sa.CheckConstraint("role in ('owner', 'admin', 'editor', 'viewer', 'guest')", name=op.f('ck_memberships_role')),
    sa.ForeignKeyConstraint(['user_id'], ['users.id'], name=op.f('fk_memberships_user_id')),
    sa.ForeignKeyConstraint(['workspace_id'], ['workspaces.id'], name=op.f('fk_memberships_workspace_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_memberships')),
    sa.UniqueConstraint('workspace_id', 'user_id', name=op.f('uq_memberships_workspace_id_user_id'))
    )
    with op.batch_alter_table('memberships', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_memberships_user_id'), ['user_id'], unique=False)

    op.create_table('user_sessions',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('user_id', sa.String(length=36), nullable=False),
    sa.Column('digest', sa.String(length=64), nullable=False),
    sa.Column('user_agent', sa.String(length=255), nullable=True),
    sa.Column('created_at', UtcDateTime(), nullable=False),
    sa.Column('last_seen_at', UtcDateTime(), nullable=False),
    sa.Column('expires_at', UtcDateTime(), nullable=False),
    sa.Column('revoked_at', UtcDateTime(), nullable=True),
    sa.ForeignKeyConstraint(['user_id'], ['users.id'], name=op.f('fk_user_sessions_user_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_user_sessions')),
    sa.UniqueConstraint('digest', name=op.f('uq_user_sessions_digest'))
    )
    with op.batch_alter_table('user_sessions', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_user_sessions_user_id'), ['user_id'], unique=False)

    op.create_table('user_tokens',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('user_id', sa.String(length=36), nullable=False),
    sa.Column('name', sa.String(length=80), nullable=False),
    sa.Column('prefix', sa.String(length=24), nullable=False),
    sa.Column('digest', sa.String(length=64), nullable=False),
    sa.Column('grants', sa.JSON(), nullable=False),
    sa.Column('origin', sa.String(length=8), nullable=False),
    sa.Column('client_id', sa.String(length=64), nullable=True),
    sa.Column('family_id', sa.String(length=36), nullable=True),
    sa.Column('created_at', UtcDateTime(), nullable=False),
    sa.Column('expires_at', UtcDateTime(), nullable=False),
    sa.Column('revoked_at', UtcDateTime(), nullable=True),
    sa.Column('last_used_at', UtcDateTime(), nullable=True),
    sa.ForeignKeyConstraint(['user_id'], ['users.id'], name=op.f('fk_user_tokens_user_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_user_tokens')),
    sa.UniqueConstraint('digest', name=op.f('uq_user_tokens_digest'))
    )
    with op.batch_alter_table('user_tokens', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_user_tokens_client_id'), ['client_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_user_tokens_family_id'), ['family_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_user_tokens_user_id'), ['user_id'], unique=False)

    op.create_table('app_secrets',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('app_id', sa.String(length=36), nullable=False),
    sa.Column('digest', sa.String(length=64), nullable=False),
    sa.Column('created_at', UtcDateTime(), nullable=False),
    sa.Column('expires_at', UtcDateTime(), nullable=True),
    sa.ForeignKeyConstraint(['app_id'], ['apps.id'], name=op.f('fk_app_secrets_app_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_app_secrets')),
    sa.UniqueConstraint('digest', name=op.f('uq_app_secrets_digest'))
    )
    with op.batch_alter_table('app_secrets', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_app_secrets_app_id'), ['app_id'], unique=False)

    op.create_table('delegations',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('app_id', sa.String(length=36), nullable=False),
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.Column('external_ref', sa.String(length=128), nullable=False),
    sa.Column('kind', sa.String(length=16), nullable=False),
    sa.Column('created_at', UtcDateTime(), nullable=False),
    sa.CheckConstraint("kind in ('provisioned', 'adopted')", name=op.f('ck_delegations_kind')),
    sa.ForeignKeyConstraint(['app_id'], ['apps.id'], name=op.f('fk_delegations_app_id')),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_delegations_profile_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_delegations')),
    sa.UniqueConstraint('app_id', 'external_ref', name=op.f('uq_delegations_app_id_external_ref')),
    sa.UniqueConstraint('app_id', 'profile_id', name=op.f('uq_delegations_app_id_profile_id'))
    )
    with op.batch_alter_table('delegations', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_delegations_profile_id'), ['profile_id'], unique=False)

    op.create_table('invitations',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('workspace_id', sa.String(length=36), nullable=False),
    sa.Column('profile_id', sa.String(length=36), nullable=True),
    sa.Column('email', sa.String(length=254), nullable=False),
    sa.Column('role', sa.String(length=8), nullable=False),
    sa.Column('permissions', sa.JSON(), nullable=False),
    sa.Column('profile_ids', sa.JSON(none_as_null=True), nullable=True),
    sa.Column('digest', sa.String(length=64), nullable=False),
    sa.Column('message', sa.String(length=500), nullable=True),
    sa.Column('status', sa.String(length=8), nullable=False),
    sa.Column('revoke_reason', sa.String(length=24), nullable=True),
    sa.Column('invited_by_kind', sa.String(length=16), nullable=False),
    sa.Column('invited_by_id', sa.String(length=36), nullable=True),
    sa.Column('created_at', UtcDateTime(), nullable=False),
    sa.Column('expires_at', UtcDateTime(), nullable=False),
    sa.Column('accepted_at', UtcDateTime(), nullable=True),
    sa.Column('revoked_at', UtcDateTime(), nullable=True),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_invitations_profile_id')),
    sa.ForeignKeyConstraint(['workspace_id'], ['workspaces.id'], name=op.f('fk_invitations_workspace_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_invitations')),
    sa.UniqueConstraint('digest', name=op.f('uq_invitations_digest'))
    )
    with op.batch_alter_table('invitations', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_invitations_workspace_id'), ['workspace_id'], unique=False)

    op.create_table('profile_memberships',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('membership_id', sa.String(length=36), nullable=False),
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.Column('role', sa.String(length=8), nullable=False),
    sa.Column('permissions', sa.JSON(), nullable=False),
    sa.Column('created_at', UtcDateTime(), nullable=False),
    sa.CheckConstraint("role in ('editor', 'viewer', 'guest')", name=op.f('ck_profile_memberships_role')),
    sa.ForeignKeyConstraint(['membership_id'], ['memberships.id'], name=op.f('fk_profile_memberships_membership_id')),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_profile_memberships_profile_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_profile_memberships')),
    sa.UniqueConstraint('membership_id', 'profile_id', name=op.f('uq_profile_memberships_membership_id_profile_id'))
    )
    with op.batch_alter_table('profile_memberships', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_profile_memberships_profile_id'), ['profile_id'], unique=False)

    with op.batch_alter_table('api_keys', schema=None) as batch_op:
        batch_op.add_column(sa.Column('allowed_ips', sa.JSON(), server_default='[]', nullable=False))
        batch_op.add_column(sa.Column('created_by_kind', sa.String(length=16), server_default='system', nullable=False))
        batch_op.add_column(sa.Column('created_by_id', sa.String(length=36), nullable=True))
        batch_op.add_column(sa.Column('rotated_from_id', sa.String(length=36), nullable=True))
        batch_op.add_column(sa.Column('rotated_to_id', sa.String(length=36), nullable=True))

    with op.batch_alter_table('apps', schema=None) as batch_op:
        batch_op.add_column(sa.Column('client_id', sa.String(length=64), nullable=True))
        batch_op.add_column(sa.Column('workspace_id', sa.String(length=36), nullable=True))
        batch_op.add_column(sa.Column('description', sa.String(length=500), nullable=True))
        batch_op.add_column(sa.Column('logo_url', sa.String(length=2000), nullable=True))
        batch_op.add_column(sa.Column('redirect_uris', sa.JSON(), server_default='[]', nullable=False))
        batch_op.add_column(sa.Column('connect_scopes', sa.JSON(), server_default='[]', nullable=False))
        batch_op.add_column(sa.Column('status', sa.String(length=16), server_default='active', nullable=False))
        batch_op.create_index(batch_op.f('ix_apps_workspace_id'), ['workspace_id'], unique=False)
        batch_op.create_unique_constraint(batch_op.f('uq_apps_client_id'), ['client_id'])
        batch_op.create_foreign_key(batch_op.f('fk_apps_workspace_id'), 'workspaces', ['workspace_id'], ['id'])

    with op.batch_alter_table('audit_entries', schema=None) as batch_op:
        batch_op.add_column(sa.Column('category', sa.String(length=16), server_default='classification', nullable=False))

    with op.batch_alter_table('profiles', schema=None) as batch_op:
        batch_op.add_column(sa.Column('privacy_mode', sa.String(length=16), server_default='standard', nullable=False))
        batch_op.add_column(sa.Column('website', sa.String(length=500), nullable=True))
        batch_op.add_column(sa.Column('monthly_budget', sa.Numeric(precision=18, scale=4), nullable=True))
        batch_op.add_column(sa.Column('outcome_target', sa.Integer(), nullable=True))
        batch_op.create_check_constraint(batch_op.f('ck_profiles_privacy_mode'), "privacy_mode in ('standard', 'platform_safe', 'hipaa')")

    with op.batch_alter_table('workspaces', schema=None) as batch_op:
        batch_op.add_column(sa.Column('is_healthcare_agency', sa.Boolean(), server_default=sa.false(), nullable=False))
        batch_op.add_column(sa.Column('acquisition_source', sa.String(length=16), server_default='direct', nullable=False))
        batch_op.add_column(sa.Column('provisioned_by_app_id', sa.String(length=36), nullable=True))
        batch_op.add_column(sa.Column('reporting_currency', sa.String(length=3), server_default='USD', nullable=False))
        batch_op.add_column(sa.Column('currency_set_at', UtcDateTime(), nullable=True))
        batch_op.add_column(sa.Column('currency_set_by', sa.String(length=36), nullable=True))
        batch_op.add_column(sa.Column('pii_mode', sa.String(length=16), server_default='masked_default', nullable=False))
        batch_op.add_column(sa.Column('mcp_writeback_enabled', sa.Boolean(), server_default=sa.false(), nullable=False))
        batch_op.add_column(sa.Column('mcp_set_at', UtcDateTime(), nullable=True))
        batch_op.add_column(sa.Column('mcp_set_by', sa.String(length=36), nullable=True))
        batch_op.add_column(sa.Column('archived_owner_ids', sa.JSON(), server_default='[]', nullable=False))
        batch_op.add_column(sa.Column('archive_counts', sa.JSON(), server_default='{}', nullable=False))
        batch_op.create_index(batch_op.f('ix_workspaces_provisioned_by_app_id'), ['provisioned_by_app_id'], unique=False)




def downgrade() -> None:
    with op.batch_alter_table('workspaces', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_workspaces_provisioned_by_app_id'))
        batch_op.drop_column('archive_counts')
        batch_op.drop_column('archived_owner_ids')
        batch_op.drop_column('mcp_set_by')
        batch_op.drop_column('mcp_set_at')
        batch_op.drop_column('mcp_writeback_enabled')
        batch_op.drop_column('pii_mode')
        batch_op.drop_column('currency_set_by')
        batch_op.drop_column('currency_set_at')
        batch_op.drop_column('reporting_currency')
        batch_op.drop_column('provisioned_by_app_id')
        batch_op.drop_column('acquisition_source')
        batch_op.drop_column('is_healthcare_agency')

    with op.batch_alter_table('profiles', schema=None) as batch_op:
        batch_op.drop_constraint(batch_op.f('ck_profiles_privacy_mode'), type_='check')
        batch_op.drop_column('outcome_target')
        batch_op.drop_column('monthly_budget')
        batch_op.drop_column('website')
        batch_op.drop_column('privacy_mode')

    with op.batch_alter_table('audit_entries', schema=None) as batch_op:
        batch_op.drop_column('category')

    with op.batch_alter_table('apps', schema=None) as batch_op:
        batch_op.drop_constraint(batch_op.f('fk_apps_workspace_id'), type_='foreignkey')
        batch_op.drop_constraint(batch_op.f('uq_apps_client_id'), type_='unique')
        batch_op.drop_index(batch_op.f('ix_apps_workspace_id'))
        batch_op.drop_column('status')
        batch_op.drop_column('connect_scopes')
        batch_op.drop_column('redirect_uris')
        batch_op.drop_column('logo_url')
        batch_op.drop_column('description')
        batch_op.drop_column('workspace_id')
        batch_op.drop_column('client_id')

    with op.batch_alter_table('api_keys', schema=None) as batch_op:
        batch_op.drop_column('rotated_to_id')
        batch_op.drop_column('rotated_from_id')
        batch_op.drop_column('created_by_id')
        batch_op.drop_column('created_by_kind')
        batch_op.drop_column('allowed_ips')

    with op.batch_alter_table('profile_memberships', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_profile_memberships_profile_id'))

    op.drop_table('profile_memberships')
    with op.batch_alter_table('invitations', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_invitations_workspace_id'))

    op.drop_table('invitations')
    with op.batch_alter_table('delegations', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_delegations_profile_id'))

    op.drop_table('delegations')
    with op.batch_alter_table('app_secrets', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_app_secrets_app_id'))

    op.drop_table('app_secrets')
    with op.batch_alter_table('user_tokens', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_user_tokens_user_id'))
        batch_op.drop_index(batch_op.f('ix_user_tokens_family_id'))
        batch_op.drop_index(batch_op.f('ix_user_tokens_client_id'))

    op.drop_table('user_tokens')
    with op.batch_alter_table('user_sessions', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_user_sessions_user_id'))

    op.drop_table('user_sessions')
    with op.batch_alter_table('memberships', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_memberships_user_id'))

    op.drop_table('memberships')
    op.drop_table('users')

