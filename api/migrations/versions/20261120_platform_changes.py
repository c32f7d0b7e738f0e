"""Attempts to change something at an ad platform."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from api.db import UtcDateTime

revision = '397606f91cb3'
down_revision = 'a50dc0cc6a04'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('platform_changes',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('workspace_id', sa.String(length=36), nullable=False),
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.Column('platform_id', sa.String(length=128), nullable=False),
    sa.Column('action', sa.String(length=64), nullable=False),
    sa.Column('dry_run', sa.Boolean(), nullable=False),
    sa.Column('details', sa.JSON(), nullable=False),
    sa.Column('actor_kind', sa.String(length=16), nullable=False),
    sa.Column('actor_id', sa.String(length=36), nullable=True),
    sa.Column('request_id', sa.String(length=40), nullable=True),
    sa.Column('writeback_id', sa.String(length=36), nullable=True),
    sa.Column('started_at', UtcDateTime(), nullable=False),
    sa.Column('ended_at', UtcDateTime(), nullable=True),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_platform_changes_profile_id')),
    sa.ForeignKeyConstraint(['writeback_id'], ['writebacks.id'], name=op.f('fk_platform_changes_writeback_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_platform_changes'))
    )
    with op.batch_alter_table('platform_changes', schema=None) as batch_op:
        batch_op.create_index('ix_platform_changes_open', ['started_at'], unique=False, sqlite_where=sa.text('ended_at is null'), postgresql_where=sa.text('ended_at is null'))
        batch_op.create_index('uq_platform_changes_open', ['profile_id', 'platform_id'], unique=True, sqlite_where=sa.text('ended_at is null and not dry_run'), postgresql_where=sa.text('ended_at is null and not dry_run'))



def downgrade() -> None:
    with op.batch_alter_table('platform_changes', schema=None) as batch_op:
        batch_op.drop_index('uq_platform_changes_open', sqlite_where=sa.text('ended_at is null and not dry_run'), postgresql_where=sa.text('ended_at is null and not dry_run'))
        batch_op.drop_index('ix_platform_changes_open', sqlite_where=sa.text('ended_at is null'), postgresql_where=sa.text('ended_at is null'))

    op.drop_table('platform_changes')
