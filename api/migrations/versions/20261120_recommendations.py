"""recommendations."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from api.db import UtcDateTime

revision = '6f6a55ebfe65'
down_revision = '7a4f30cacb8c'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('recommendation_looks',
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.Column('snapshot_id', sa.String(length=36), nullable=False),
    sa.Column('looked_at', UtcDateTime(), nullable=False),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_recommendation_looks_profile_id')),
    sa.PrimaryKeyConstraint('profile_id', name=op.f('pk_recommendation_looks'))
    )
    op.create_table('recommendations',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('workspace_id', sa.String(length=36), nullable=False),
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.Column('kind', sa.String(length=16), nullable=False),
    sa.Column('status', sa.String(length=12), nullable=False),
    sa.Column('entity_id', sa.String(length=36), nullable=False),
    sa.Column('entity_external_id', sa.String(length=128), nullable=False),
    sa.Column('entity_name', sa.Text(), nullable=True),
    sa.Column('platform', sa.String(length=32), nullable=False),
    sa.Column('score_window', sa.String(length=8), nullable=False),
    sa.Column('evidence', sa.JSON(), nullable=False),
    sa.Column('action_type', sa.String(length=16), nullable=False),
    sa.Column('action_level', sa.String(length=8), nullable=True),
    sa.Column('action_entity_id', sa.String(length=36), nullable=True),
    sa.Column('from_minor', sa.BigInteger(), nullable=True),
    sa.Column('to_minor', sa.BigInteger(), nullable=True),
    sa.Column('currency', sa.String(length=3), nullable=True),
    sa.Column('created_at', UtcDateTime(), nullable=False),
    sa.Column('expires_at', UtcDateTime(), nullable=False),
    sa.Column('decided_at', UtcDateTime(), nullable=True),
    sa.Column('decided_by_kind', sa.String(length=16), nullable=True),
    sa.Column('decided_by_id', sa.String(length=36), nullable=True),
    sa.CheckConstraint("status in ('open', 'applied', 'dismissed', 'expired', 'superseded')", name=op.f('ck_recommendations_status')),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_recommendations_profile_id')),
    sa.ForeignKeyConstraint(['workspace_id'], ['workspaces.id'], name=op.f('fk_recommendations_workspace_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_recommendations'))
    )
    with op.batch_alter_table('recommendations', schema=None) as batch_op:
        batch_op.create_index('ix_recommendations_profile_id_created_at', ['profile_id', 'created_at'], unique=False)
        batch_op.create_index(batch_op.f('ix_recommendations_workspace_id'), ['workspace_id'], unique=False)
        batch_op.create_index('uq_recommendations_open', ['profile_id', 'entity_id'], unique=True, sqlite_where=sa.text("status = 'open'"), postgresql_where=sa.text("status = 'open'"))



def downgrade() -> None:
    with op.batch_alter_table('recommendations', schema=None) as batch_op:
        batch_op.drop_index('uq_recommendations_open', sqlite_where=sa.text("status = 'open'"), postgresql_where=sa.text("status = 'open'"))
        batch_op.drop_index(batch_op.f('ix_recommendations_workspace_id'))
        batch_op.drop_index('ix_recommendations_profile_id_created_at')

    op.drop_table('recommendations')
    op.drop_table('recommendation_looks')
