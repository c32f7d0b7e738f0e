"""leaders."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from api.db import UtcDateTime

revision = 'f22a2b4e4c1d'
down_revision = '84e797d380aa'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table('leaders',
    sa.Column('profile_id', sa.String(length=36), nullable=False),
    sa.Column('ad_id', sa.String(length=36), nullable=False),
    sa.Column('since', UtcDateTime(), nullable=False),
    sa.ForeignKeyConstraint(['profile_id'], ['profiles.id'], name=op.f('fk_leaders_profile_id')),
    sa.PrimaryKeyConstraint('profile_id', 'ad_id', name=op.f('pk_leaders'))
    )
    with op.batch_alter_table('leaders', schema=None) as batch_op:
        batch_op.create_index(batch_op.f('ix_leaders_since'), ['since'], unique=False)


def downgrade() -> None:
    with op.batch_alter_table('leaders', schema=None) as batch_op:
        batch_op.drop_index(batch_op.f('ix_leaders_since'))

    op.drop_table('leaders')
