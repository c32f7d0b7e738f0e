"""payment payers."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from api.db import UtcDateTime

revision = 'c8d2f0a71b36'
down_revision = 'a541e462a9ce'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('payment_payers',
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.Column('payment_ref', sa.String(length=240), nullable=False),
    sa.Column('identifier_id', sa.String(length=36), nullable=False),
    sa.Column('assigned_at', UtcDateTime(), nullable=False),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_payment_payers_profile_id')),
    sa.PrimaryKeyConstraint('profile_id', 'payment_ref', name=op.f('pk_payment_payers'))
    )


def downgrade() -> None:
    op.drop_table('payment_payers')
