"""creative_analyses."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from api.db import UtcDateTime

revision = 'a50dc0cc6a04'
down_revision = '70edb1616728'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('creative_analyses',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.Column('account', sa.String(length=64), nullable=False),
    sa.Column('ad_id', sa.String(length=36), nullable=False),
    sa.Column('ad_external_id', sa.String(length=128), nullable=False),
    sa.Column('creative_hash', sa.String(length=32), nullable=False),
    sa.Column('creative', sa.JSON(), nullable=False),
    sa.Column('status', sa.String(length=12), nullable=False),
    sa.Column('attempts', sa.Integer(), nullable=False),
    sa.Column('next_attempt_at', UtcDateTime(), nullable=False),
    sa.Column('begun_at', UtcDateTime(), nullable=True),
    sa.Column('requested_at', UtcDateTime(), nullable=False),
    sa.Column('finished_at', UtcDateTime(), nullable=True),
    sa.Column('failure_reason', sa.String(length=64), nullable=True),
    sa.Column('result', sa.JSON(none_as_null=True), nullable=True),
    sa.CheckConstraint("status in ('queued', 'running', 'succeeded', 'failed')", name=op.f('ck_creative_analyses_status')),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_creative_analyses_profile_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_creative_analyses'))
    )
    with op.batch_alter_table('creative_analyses', schema=None) as batch_op:
        batch_op.create_index('ix_creative_analyses_account_requested_at', ['account', 'requested_at'], unique=False)
        batch_op.create_index('ix_creative_analyses_profile_id_requested_at', ['profile_id', 'requested_at'], unique=False)
        batch_op.create_index(batch_op.f('ix_creative_analyses_status'), ['status'], unique=False)



def downgrade() -> None:
    with op.batch_alter_table('creative_analyses', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_creative_analyses_status'))
        batch_op.drop_index('ix_creative_analyses_profile_id_requested_at')
        batch_op.drop_index('ix_creative_analyses_account_requested_at')

    op.drop_table('creative_analyses')
