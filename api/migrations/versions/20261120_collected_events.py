"""collected_events."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from api.db import UtcDateTime

revision = '43faa778b432'
down_revision = '6eba00d18ebf'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('collected_events',
    sa.Column('id', sa.BigInteger().with_variant(sa.Integer(), 'sqlite'), autoincrement=True, nullable=False),
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.Column('event_id', sa.String(length=128), nullable=False),
    sa.Column('event_name', sa.String(length=64), nullable=False),
    sa.Column('conversion_type', sa.String(length=40), nullable=True),
    sa.Column('occurred_at', UtcDateTime(), nullable=False),
    sa.Column('received_at', UtcDateTime(), nullable=False),
    sa.Column('visitor', sa.String(length=36), nullable=True),
    sa.Column('visit', sa.String(length=36), nullable=True),
    sa.Column('body', sa.JSON(none_as_null=True), nullable=True),
    sa.Column('landed_batch', sa.String(length=36), nullable=True),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_collected_events_profile_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_collected_events')),
    sa.UniqueConstraint('profile_id', 'event_id', name=op.f('uq_collected_events_profile_id_event_id'))
    )
    with op.batch_alter_table('collected_events', schema=None) as batch_op:
        batch_op.create_index('ix_collected_events_profile_id_received_at', ['profile_id', 'received_at'], unique=False)
        batch_op.create_index(batch_op.f('ix_collected_events_visit'), ['visit'], unique=False)
        batch_op.create_index('ix_collected_events_waiting', ['landed_batch', 'profile_id'], unique=False, sqlite_where=sa.text('body is not null'), postgresql_where=sa.text('body is not null'))



def downgrade() -> None:
    with op.batch_alter_table('collected_events', schema=None) as batch_op:
        batch_op.drop_index('ix_collected_events_waiting', sqlite_where=sa.text('body is not null'), postgresql_where=sa.text('body is not null'))
        batch_op.drop_index(batch_op.f('ix_collected_events_visit'))
        batch_op.drop_index('ix_collected_events_profile_id_received_at')

    op.drop_table('collected_events')
