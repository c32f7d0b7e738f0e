"""What agents changed on ad platforms."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from api.db import UtcDateTime

revision = '13623e0ae363'
down_revision = 'c2a24caab706'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('writebacks',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('at', UtcDateTime(), nullable=False),
    sa.Column('workspace_id', sa.String(length=36), nullable=False),
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.Column('user_id', sa.String(length=36), nullable=False),
    sa.Column('token_prefix', sa.String(length=24), nullable=False),
    sa.Column('operation', sa.String(length=64), nullable=False),
    sa.Column('target', sa.JSON(), nullable=False),
    sa.Column('dry_run', sa.Boolean(), nullable=False),
    sa.Column('request', sa.JSON(), nullable=False),
    sa.Column('outcome', sa.String(length=8), nullable=False),
    sa.Column('error_code', sa.String(length=64), nullable=True),
    sa.Column('idempotency_key', sa.String(length=255), nullable=True),
    sa.Column('request_id', sa.String(length=40), nullable=True),
    sa.CheckConstraint("outcome in ('pending', 'dry_run', 'done', 'refused', 'failed')", name=op.f('ck_writebacks_outcome')),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_writebacks_profile_id')),
    sa.ForeignKeyConstraint(['user_id'], ['users.id'], name=op.f('fk_writebacks_user_id')),
    sa.ForeignKeyConstraint(['workspace_id'], ['workspaces.id'], name=op.f('fk_writebacks_workspace_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_writebacks'))
    )
    with op.batch_alter_table('writebacks', schema=None) as batch_op:
        batch_op.create_index('ix_writebacks_listed', ['workspace_id', 'at', 'id'], unique=False)
        batch_op.create_index(batch_op.f('ix_writebacks_profile_id'), ['profile_id'], unique=False)



def downgrade() -> None:
    with op.batch_alter_table('writebacks', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_writebacks_profile_id'))
        batch_op.drop_index('ix_writebacks_listed')

    op.drop_table('writebacks')
