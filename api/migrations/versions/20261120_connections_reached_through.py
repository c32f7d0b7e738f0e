"""connections_reached_through_another_account."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op


revision = '7237d370ed6d'
down_revision = '43faa778b432'
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table('connections', schema=None) as batch_op:
        batch_op.add_column(sa.Column('reached_through', sa.String(length=128), nullable=True))



def downgrade() -> None:
    with op.batch_alter_table('connections', schema=None) as batch_op:
        batch_op.drop_column('reached_through')
