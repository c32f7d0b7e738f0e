"""shared snapshots."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from api.db import UtcDateTime

revision = '125c32c6e4e3'
down_revision = '54d307173ffe'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('shared_snapshots',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('workspace_id', sa.String(length=36), nullable=False),
    sa.Column('title', sa.String(length=120), nullable=True),
    sa.Column('digest', sa.String(length=64), nullable=False),
    sa.Column('token_prefix', sa.String(length=24), nullable=False),
    sa.Column('score_window', sa.String(length=8), nullable=False),
    sa.Column('row_limit', sa.Integer(), nullable=False),
    sa.Column('filters', sa.JSON(), nullable=False),
    sa.Column('hide_money', sa.Boolean(), server_default=sa.false(), nullable=False),
    sa.Column('currency', sa.String(length=3), nullable=False),
    sa.Column('score_date', sa.Date(), nullable=False),
    sa.Column('config_version', sa.Integer(), nullable=False),
    sa.Column('data_snapshot_id', sa.String(length=36), nullable=False),
    sa.Column('rows', sa.JSON(), nullable=False),
    sa.Column('row_count', sa.Integer(), nullable=False),
    sa.Column('created_by_kind', sa.String(length=16), nullable=False),
    sa.Column('created_by_id', sa.String(length=36), nullable=False),
    sa.Column('created_at', UtcDateTime(), nullable=False),
    sa.Column('expires_at', UtcDateTime(), nullable=False),
    sa.Column('revoked_at', UtcDateTime(), nullable=True),
    sa.Column('view_count', sa.Integer(), nullable=False),
    sa.Column('last_viewed_at', UtcDateTime(), nullable=True),
    sa.ForeignKeyConstraint(['workspace_id'], ['workspaces.id'], name=op.f('fk_shared_snapshots_workspace_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_shared_snapshots')),
    sa.UniqueConstraint('digest', name=op.f('uq_shared_snapshots_digest'))
    )
    with op.batch_alter_table('shared_snapshots', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_shared_snapshots_workspace_id'), ['workspace_id'], unique=False)

    op.create_table('shared_snapshot_profiles',
    sa.Column('shared_snapshot_id', sa.String(length=36), nullable=False),
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_shared_snapshot_profiles_profile_id')),
    sa.ForeignKeyConstraint(['shared_snapshot_id'], ['shared_snapshots.id'], name=op.f('fk_shared_snapshot_profiles_shared_snapshot_id')),
    sa.PrimaryKeyConstraint('shared_snapshot_id', 'profile_id', name=op.f('pk_shared_snapshot_profiles'))
    )
    with op.batch_alter_table('shared_snapshot_profiles', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_shared_snapshot_profiles_profile_id'), ['profile_id'], unique=False)



def downgrade() -> None:
    with op.batch_alter_table('shared_snapshot_profiles', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_shared_snapshot_profiles_profile_id'))

    op.drop_table('shared_snapshot_profiles')
    with op.batch_alter_table('shared_snapshots', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_shared_snapshots_workspace_id'))

    op.drop_table('shared_snapshots')
