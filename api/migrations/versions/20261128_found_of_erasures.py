"""found of erasures."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op


revision = 'b4d7e0c92a16'
down_revision = 'e83c1f6a9d57'
branch_labels = None
depends_on = None


def upgrade() -> None:
    with op.batch_alter_table('erasures', schema=None) as batch_op:
        batch_op.add_column(sa.Column('found', sa.JSON(none_as_null=True), nullable=True))


def downgrade() -> None:
    with op.batch_alter_table('erasures', schema=None) as batch_op:
        batch_op.drop_column('found')
