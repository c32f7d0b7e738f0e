"""Scans of the links of ads."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from api.db import UtcDateTime

revision = '8823ee064113'
down_revision = '4e33de4f21df'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('utm_scans',
    sa.Column('id', sa.String(length=36), nullable=False),
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.Column('platform', sa.String(length=32), nullable=True),
    sa.Column('scanned_at', UtcDateTime(), nullable=False),
    sa.Column('summary', sa.JSON(), nullable=False),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_utm_scans_profile_id')),
    sa.PrimaryKeyConstraint('id', name=op.f('pk_utm_scans'))
    )
    with op.batch_alter_table('utm_scans', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_utm_scans_profile_id'), ['profile_id'], unique=False)



def downgrade() -> None:
    with op.batch_alter_table('utm_scans', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_utm_scans_profile_id'))

    op.drop_table('utm_scans')
