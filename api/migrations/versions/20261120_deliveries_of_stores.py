"""deliveries_of_stores."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from api.db import UtcDateTime

revision = '4e33de4f21df'
down_revision = '397606f91cb3'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('store_deliveries',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.Column('connection_id', sa.String(length=36), nullable=False),
    sa.Column('delivery_id', sa.String(length=200), nullable=False),
    sa.Column('event_id', sa.String(length=200), nullable=True),
    sa.Column('topic', sa.String(length=80), nullable=False),
    sa.Column('occurred_at', UtcDateTime(), nullable=False),
    sa.Column('facts', sa.JSON(), nullable=False),
    sa.Column('received_at', UtcDateTime(), nullable=False),
    sa.Column('processed_at', UtcDateTime(), nullable=True),
    sa.Column('outcome', sa.String(length=32), nullable=True),
    sa.ForeignKeyConstraint(['connection_id'], ['connections.id'], name=op.f('fk_store_deliveries_connection_id')),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_store_deliveries_profile_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_store_deliveries')),
    sa.UniqueConstraint('connection_id', 'delivery_id', name=op.f('uq_store_deliveries_connection_id_delivery_id'))
    )
    with op.batch_alter_table('store_deliveries', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_store_deliveries_processed_at'), ['processed_at'], unique=False)
        batch_op.create_index(batch_op.f('ix_store_deliveries_profile_id'), ['profile_id'], unique=False)

    op.create_table('store_purges',
    sa.Column('connection_id', sa.String(length=36), nullable=False),
    sa.Column('requested_at', UtcDateTime(), nullable=False),
    sa.Column('files_removed_at', UtcDateTime(), nullable=True),
    sa.Column('completed_at', UtcDateTime(), nullable=True),
    sa.ForeignKeyConstraint(['connection_id'], ['connections.id'], name=op.f('fk_store_purges_connection_id')),
    sa.PrimaryKeyConstraint('connection_id', name=op.f('pk_store_purges'))
    )


def downgrade() -> None:
    op.drop_table('store_purges')
    with op.batch_alter_table('store_deliveries', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_store_deliveries_profile_id'))
        batch_op.drop_index(batch_op.f('ix_store_deliveries_processed_at'))

    op.drop_table('store_deliveries')
