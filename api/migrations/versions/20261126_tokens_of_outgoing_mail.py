"""tokens_of_outgoing_mail."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op


revision = '3d9b51c07e2a'
down_revision = '84a503970e77'
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table('outgoing_mail', schema=None) as batch_op:
        batch_op.add_column(sa.Column('token_digest', sa.String(length=64), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table('outgoing_mail', schema=None) as batch_op:
        batch_op.drop_column('token_digest')
