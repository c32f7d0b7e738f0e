"""holds of partner audiences."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from api.db import UtcDateTime


revision = 'b81f4ac2d937'
down_revision = '5c0e7f19b2d8'
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table('partner_audiences', schema=None) as batch_op:
        batch_op.add_column(sa.Column('held_until', UtcDateTime(), nullable=True))
    # these two were equal until a request about the list was answered
    op.execute("update partner_audiences set held_until = created_at where updated_at = created_at")


def downgrade() -> None:
    with op.batch_alter_table('partner_audiences', schema=None) as batch_op:
        batch_op.drop_column('held_until')
