"""targets of sent exports."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op


revision = '5c0e7f19b2d8'
down_revision = 'd3f1a86c27e4'
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column('export_rows', sa.Column('target', sa.String(length=128), nullable=True))
    # where a destination was moved before, nobody knows any more
    op.execute(
        "update export_rows set target = (select d.target from export_destinations as d"
        " where d.id = export_rows.destination_id) where status = 'sent'"
    )


def downgrade() -> None:
    # no batch: it would make the table anew, without the trigger that keeps its rows
    op.drop_column('export_rows', 'target')
