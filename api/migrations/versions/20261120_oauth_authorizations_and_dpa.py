"""oauth authorizations and dpa acceptances."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from api.db import UtcDateTime

revision = 'f7135b4e7ace'
down_revision = '5a21fe965ce1'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('dpa_acceptances',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('app_id', sa.String(length=36), nullable=False),
    sa.Column('version', sa.String(length=16), nullable=False),
    sa.Column('text_hash', sa.String(length=64), nullable=False),
    sa.Column('signatory_name', sa.String(length=120), nullable=False),
    sa.Column('signatory_title', sa.String(length=120), nullable=False),
    sa.Column('accepted_by_kind', sa.String(length=16), nullable=False),
    sa.Column('accepted_by_id', sa.String(length=36), nullable=False),
    sa.Column('accepted_at', UtcDateTime(), nullable=False),
    sa.Column('withdrawn_by_id', sa.String(length=36), nullable=True),
    sa.Column('withdrawn_at', UtcDateTime(), nullable=True),
    sa.Column('withdraw_reason', sa.String(length=500), nullable=True),
    sa.ForeignKeyConstraint(['app_id'], ['apps.id'], name=op.f('fk_dpa_acceptances_app_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_dpa_acceptances'))
    )
    with op.batch_alter_table('dpa_acceptances', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_dpa_acceptances_app_id'), ['app_id'], unique=False)

    op.create_table('oauth_authorizations',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('kind', sa.String(length=16), nullable=False),
    sa.Column('app_id', sa.String(length=36), nullable=True),
    sa.Column('client_id', sa.String(length=64), nullable=False),
    sa.Column('client_name', sa.String(length=120), nullable=False),
    sa.Column('user_id', sa.String(length=36), nullable=False),
    sa.Column('workspace_id', sa.String(length=36), nullable=True),
    sa.Column('profile_id', sa.String(length=36), nullable=True),
    sa.Column('scopes', sa.JSON(), nullable=False),
    sa.Column('status', sa.String(length=16), nullable=False),
    sa.Column('created_at', UtcDateTime(), nullable=False),
    sa.Column('granted_at', UtcDateTime(), nullable=True),
    sa.Column('last_used_at', UtcDateTime(), nullable=True),
    sa.Column('revoked_at', UtcDateTime(), nullable=True),
    sa.Column('keys_revoked', sa.Integer(), nullable=False),
    sa.Column('tokens_revoked', sa.Integer(), nullable=False),
    sa.CheckConstraint("kind in ('consumer_app', 'agent')", name=op.f('ck_oauth_authorizations_kind')),
    sa.CheckConstraint("status in ('requested', 'granted', 'denied', 'revoked')", name=op.f('ck_oauth_authorizations_status')),
    sa.ForeignKeyConstraint(['app_id'], ['apps.id'], name=op.f('fk_oauth_authorizations_app_id')),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_oauth_authorizations_profile_id')),
    sa.ForeignKeyConstraint(['user_id'], ['users.id'], name=op.f('fk_oauth_authorizations_user_id')),
    sa.ForeignKeyConstraint(['workspace_id'], ['workspaces.id'], name=op.f('fk_oauth_authorizations_workspace_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_oauth_authorizations'))
    )
    with op.batch_alter_table('oauth_authorizations', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_oauth_authorizations_app_id'), ['app_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_oauth_authorizations_client_id'), ['client_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_oauth_authorizations_user_id'), ['user_id'], unique=False)
        batch_op.create_index(batch_op.f('ix_oauth_authorizations_workspace_id'), ['workspace_id'], unique=False)



def downgrade() -> None:
    with op.batch_alter_table('oauth_authorizations', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_oauth_authorizations_workspace_id'))
        batch_op.drop_index(batch_op.f('ix_oauth_authorizations_user_id'))
        batch_op.drop_index(batch_op.f('ix_oauth_authorizations_client_id'))
        batch_op.drop_index(batch_op.f('ix_oauth_authorizations_app_id'))

    op.drop_table('oauth_authorizations')
    with op.batch_alter_table('dpa_acceptances', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_dpa_acceptances_app_id'))

    op.drop_table('dpa_acceptances')
